;; work.rkt -- Racket: recursion, an exception, places
#lang racket/base
(define (fibonacci n) (if (< n 2) n (+ (fibonacci (- n 1)) (fibonacci (- n 2)))))
(fibonacci 28)
(with-handlers ([exn:fail? (lambda (e) "caught")]) (car (string->number "5")))
(collect-garbage)
(define worker (thread (lambda () (for/sum ([i 300000]) (modulo i 7)))))
(thread-wait worker)
(exit 3)
