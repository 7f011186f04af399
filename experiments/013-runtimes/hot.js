// hot.js -- functions, allocation, closures, recursion, text and sorting, for so many milliseconds of wall time
function collatz(n) {
  let steps = 0;
  for (; n !== 1; steps++) n = n % 2 === 0 ? n / 2 : 3 * n + 1;
  return steps;
}
function fib(n) { return n < 2 ? n : fib(n - 1) + fib(n - 2); }
class Point {
  constructor(x, y) { this.x = x; this.y = y; }
  length() { return Math.sqrt(this.x * this.x + this.y * this.y); }
}
function allocate(count) {
  const points = [];
  for (let i = 0; i < count; i++) points.push(new Point(i, -i));
  return points.map((point) => point.length()).filter((length) => length > 3).reduce((sum, length) => sum + length, 0);
}
function words(count) {
  const counts = new Map();
  for (let i = 0; i < count; i++) {
    const word = String((i * 7919) % 1009);
    counts.set(word, (counts.get(word) || 0) + 1);
  }
  return [...counts].sort((a, b) => b[1] - a[1] || (a[0] < b[0] ? -1 : 1)).length + JSON.stringify([...counts]).replace(/[0-9]+/g, (x) => x + x).length;
}
const end = Date.now() + Number(process.argv[2]);
let sum = 0;
while (Date.now() < end) {
  for (let i = 1; i < 3000; i++) sum += collatz(i);
  sum += fib(20) + words(5000) + allocate(10000);
}
console.log(sum > 0);
