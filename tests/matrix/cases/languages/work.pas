{ work.pas -- Free Pascal: a loop, and faults that become exceptions }
{$mode objfpc}
uses sysutils;
var
  i, sum, zero: longint;
  p: ^longint;
begin
  sum := 0;
  for i := 1 to 100000000 do sum := (sum + i) mod 7919;
  writeln(sum);
  zero := 0;
  p := nil;
  try sum := sum div zero; except on EDivByZero do writeln('division'); end;
  try p^ := 1; except on EAccessViolation do writeln('no object'); end;
  halt(3);
end.
