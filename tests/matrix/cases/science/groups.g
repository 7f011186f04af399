g := SymmetricGroup(9);; Print(Size(DerivedSubgroup(g)), " ", NrConjugacyClasses(g), "\n");
f := function(n) if n < 2 then return n; fi; return f(n - 1) + f(n - 2); end;; Print(f(20), "\n");
r := function(n) return 1 + r(n + 1); end;; BreakOnError := false;; r(1);
