;;; work.lisp -- SBCL compiles a function, catches an error and the end of its stack, collects garbage, and works in four threads
(defun fibonacci (n) (if (< n 2) n (+ (fibonacci (- n 1)) (fibonacci (- n 2)))))
(compile 'fibonacci)
(print (fibonacci 30))
(print (handler-case (car (read-from-string "5")) (error () :caught)))
(print (handler-case (labels ((deeper (n) (+ 1 (deeper n)))) (deeper 1)) (storage-condition () :end-of-stack)))
(dotimes (i 20) (make-array 1000000))
(gc :full t)
(print (mapcar #'sb-thread:join-thread
               (loop for k from 2 to 5
                     collect (let ((k k)) (sb-thread:make-thread (lambda () (loop for i below 2000000 sum (mod i k))))))))
(exit :code 3)
