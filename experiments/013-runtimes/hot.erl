%% hot.erl -- functions, lists, closures, recursion, maps and sorting, for so many milliseconds of wall time
-module(hot).
-export([main/1]).
collatz(1, Steps) -> Steps;
collatz(N, Steps) when N rem 2 =:= 0 -> collatz(N div 2, Steps + 1);
collatz(N, Steps) -> collatz(3 * N + 1, Steps + 1).
fib(N) when N < 2 -> N;
fib(N) -> fib(N - 1) + fib(N - 2).
words(Count) ->
    Counts = lists:foldl(fun(I, Map) -> maps:update_with(integer_to_list(I * 7919 rem 1009), fun(X) -> X + 1 end, 1, Map) end, #{}, lists:seq(1, Count)),
    length(lists:sort(fun({A, X}, {B, Y}) -> {Y, A} =< {X, B} end, maps:to_list(Counts))).
main([Ms]) -> io:format("~p~n", [work(erlang:monotonic_time(millisecond) + list_to_integer(atom_to_list(Ms)), 0) > 0]), halt().
work(End, Sum) ->
    case erlang:monotonic_time(millisecond) < End of
        true -> work(End, Sum + lists:sum([collatz(I, 0) || I <- lists:seq(1, 3000)]) + fib(22) + words(5000));
        false -> Sum
    end.
