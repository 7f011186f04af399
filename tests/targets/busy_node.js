// busy_node -- two functions that V8 is not to merge with others; prints the CPU time of each
'use strict';
const collatz = n => { let steps = 0; while (n !== 1) { n = n % 2 === 0 ? n / 2 : 3 * n + 1; steps++; } return steps; };
const sumUp = n => { let sum = 0; for (let i = 0; i < n; i++) sum = (sum + i * i) % 1000003; return sum; };
%NeverOptimizeFunction(run);
function run(name, work, n, ms) {
  const begun = process.cpuUsage();
  let used = 0, result = 0;
  while (used < ms * 1000) {
    for (let i = 0; i < 50; i++) result += work(n + i);
    const now = process.cpuUsage(begun);
    used = now.user + now.system;
  }
  console.log(name, used * 1000);
  return result;
}
const ms = Number(process.argv[2]);
run('collatz', collatz, 100000, ms);
run('sumUp', sumUp, 20000, 2 * ms);
