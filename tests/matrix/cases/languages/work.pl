% work.pl -- SWI-Prolog: a fold, an exception, a thread
work :-
    numlist(1, 200000, List), foldl([X, A, B]>>(B is A + X mod 7), List, 0, Sum), writeln(Sum),
    catch(atom_length(_, _), error(Error, _), (writeln(Error))),
    thread_create((numlist(1, 100000, Other), sum_list(Other, Total), writeln(Total)), Id), thread_join(Id),
    halt(3).
