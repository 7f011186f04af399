// load.js -- hash maps, text and sorting, so many rounds
function round(seed) {
  const counts = new Map();
  for (let i = 0; i < 20000; i++) {
    seed = (seed * 1103515245 + 12345) & 0x7fffffff;
    const word = String(seed % 3000);
    counts.set(word, (counts.get(word) || 0) + 1);
  }
  return [...counts].sort((a, b) => b[1] - a[1] || (a[0] < b[0] ? -1 : 1)).length;
}
let sum = 0;
for (let i = 0; i < Number(process.argv[2]); i++) sum += round(i);
console.log(sum);
