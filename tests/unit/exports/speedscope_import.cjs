// speedscope_import -- read profiles with the importer of speedscope itself: node speedscope_import.cjs RELEASE_DIRECTORY FILE...
//
// Its npm package is one bundle for browsers. What only draws is cut off, and the rest gets a browser that answers anything.
// Prints a JSON array: for each file its profiles with unit, total weight, and the self weight of each stack.
const fs = require("fs"), path = require("path");
const [release, ...files] = process.argv.slice(2);
const bundle = fs.readdirSync(release).find((name) => /^speedscope-.*\.js$/.test(name));
const source = fs.readFileSync(path.join(release, bundle), "utf8");
const importer = source.match(/return\(await (\w+)\)\.importProfileGroupFromBase64/)[1];
const end = source.lastIndexOf("console.log(`speedscope v");

const anything = () => new Proxy(function () {}, {
  get: (_, name) => (name === Symbol.toPrimitive ? () => "" : name === "length" ? 0 : anything()),
  apply: anything, construct: anything, set: () => true,
});
for (const name of ["document", "localStorage", "HTMLElement", "Image", "requestAnimationFrame", "matchMedia"]) globalThis[name] = anything();
globalThis.window = globalThis;
Object.assign(globalThis, {location: {hash: "", protocol: "file:", href: ""}, addEventListener() {}});
(0, eval)(source.slice(0, end) + `globalThis.speedscopeImporter = ${importer}; })();`);

function selfWeights(profile) {
  const stacks = new Map(), names = [];
  let before = 0;
  const close = (value) => {
    if (value > before) {
      const key = JSON.stringify(names);
      stacks.set(key, (stacks.get(key) || 0) + value - before);
    }
    before = value;
  };
  profile.forEachCall(
    (node, value) => { close(value); names.push(node.frame.name); },
    (node, value) => { close(value); names.pop(); });
  return [...stacks].map(([key, weight]) => [JSON.parse(key), weight]);
}

(async () => {
  const {importProfileGroupFromBase64} = await globalThis.speedscopeImporter;
  const found = [];
  for (const file of files) {
    const group = await importProfileGroupFromBase64(path.basename(file), fs.readFileSync(file).toString("base64"));
    found.push(group && group.profiles.map((profile) => ({
      name: profile.getName(), unit: profile.getWeightUnit(), total: profile.getTotalNonIdleWeight(), stacks: selfWeights(profile),
    })));
  }
  console.log(JSON.stringify(found));
})();
