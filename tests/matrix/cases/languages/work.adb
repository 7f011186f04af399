--  work.adb -- GNAT: tasks, a division and a null access that become exceptions, a timed entry
with Ada.Text_IO; use Ada.Text_IO;
procedure Work is
   task type Worker (K : Integer);
   task body Worker is
      S : Long_Integer := 0;
   begin
      for I in 1 .. 5_000_000 loop
         S := (S + Long_Integer (I)) mod Long_Integer (K + 7);
      end loop;
   end Worker;
   type Pointer is access Integer;
   X : Integer := 0;
   Q : Pointer := null;
begin
   declare
      First : Worker (1);
      Second : Worker (2);
   begin
      null;
   end;
   begin
      X := 10 / X;
   exception
      when Constraint_Error => Put_Line ("division");
   end;
   begin
      Q.all := X;
   exception
      when Constraint_Error => Put_Line ("no object");
   end;
   delay 0.01;
   Put_Line ("end");
end Work;
