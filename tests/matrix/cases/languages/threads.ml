(* threads.ml -- native threads, two timers by signals, the end of the stack, an exception, children *)
let rec fib n = if n < 2 then n else fib (n - 1) + fib (n - 2)

let work number =
  let list = ref [] in
  for j = 0 to 200000 do list := (j mod (number + 2)) :: !list done;
  Printf.sprintf "%d %d" number (fib 24 + List.length !list)

let until_ten timer signal =
  let count = ref 0 in
  Sys.set_signal signal (Sys.Signal_handle (fun _ -> incr count));
  ignore (Unix.setitimer timer { Unix.it_interval = 0.01; it_value = 0.01 });
  while !count < 10 do ignore (fib 15) done;
  ignore (Unix.setitimer timer { Unix.it_interval = 0.; it_value = 0. })

let rec deep n = 1 + deep (n + 1)

let () =
  let results = Array.make 4 "" in
  let threads = List.init 4 (fun i -> Thread.create (fun () -> results.(i) <- work i) ()) in
  List.iter Thread.join threads;
  Array.iter print_endline results;
  until_ten Unix.ITIMER_REAL Sys.sigalrm;
  until_ten Unix.ITIMER_VIRTUAL Sys.sigvtalrm;
  (try Printf.printf "%d\n" (deep 0) with Stack_overflow -> print_endline "deep");
  (try ignore (List.hd []) with Failure text -> print_endline text);
  Printf.printf "%d\n%!" (Sys.command "exit 3");
  match Unix.fork () with
  | 0 -> exit (fib 5)
  | child -> (
      match snd (Unix.waitpid [] child) with
      | Unix.WEXITED code -> Printf.printf "child %d\n" code; exit 4
      | _ -> exit 5)
