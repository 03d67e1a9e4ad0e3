// Builds the bundles in dist/ with ncc, all or the ones named; with --check, says instead whether dist/ is what src/ builds.
import { execFile } from "node:child_process";
import { cp, mkdtemp, readdir, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join, relative } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import * as vite from "vite";

const run = promisify(execFile);
const root = fileURLToPath(new URL("..", import.meta.url));
const bundles = {
  cli: "src/cli/index.ts",
  main: "src/action/main.ts",
  post: "src/action/post.ts",
  push: "src/action/push-main.ts",
  release: "src/action/release-main.ts",
  sweep: "src/action/sweep-main.ts",
  heartbeat: "src/action/heartbeat-main.ts",
  git: "src/node.ts",
  gate: "src/gate/server/main.ts",
};

/** The library: bundled without anything of Node's, and with its types. */
const library = { name: "lib", entry: "src/index.ts", types: ["index", "node", "types"] };

const check = process.argv.includes("--check");
const named = process.argv.slice(2).filter((word) => !word.startsWith("--"));
const wanted = Object.entries(bundles).filter(([name]) => named.length === 0 || named.includes(name));
const scratch = await mkdtemp(join(tmpdir(), "fencepost-build-"));
// A fixed name, since a bundler's module ids can hang on paths.
const compiled = join(root, "node_modules", ".fencepost-build");
try {
  // Compiled once for all bundles, inside the project, where the dependencies are found.
  const tsc = join(root, "node_modules/typescript/bin/tsc");
  await run(process.execPath, [tsc, "--project", "tsconfig.build.json", "--outDir", compiled], { cwd: root });
  await Promise.all(wanted.map(([name, entry]) => bundle(name, entry)));
  if (named.length === 0 || named.includes(library.name)) await buildLibrary();
  if (check) await compare();
  else await publish();
} finally {
  await rm(scratch, { recursive: true, force: true });
  await rm(compiled, { recursive: true, force: true });
}

async function bundle(name, entry) {
  const out = join(scratch, name);
  const ncc = join(root, "node_modules/@vercel/ncc/dist/ncc/cli.js");
  const source = join(compiled, entry.replace(/\.ts$/, ".js"));
  const args = [ncc, "build", source, "--out", out, "--minify", "--no-cache", "--target", "es2022"];
  await run(process.execPath, args, { cwd: root, maxBuffer: 1 << 26 });
  for (const file of await files(out))
    if (file !== "index.js" && file !== "package.json") await rm(join(out, file));
  await writeFile(join(out, "package.json"), '{ "type": "module" }\n');
}

async function buildLibrary() {
  const out = join(scratch, library.name);
  await vite.build({
    configFile: false,
    root,
    logLevel: "error",
    build: {
      lib: {
        entry: join(compiled, library.entry.replace(/\.ts$/, ".js")),
        formats: ["es"],
        fileName: "index",
      },
      outDir: out,
      emptyOutDir: false,
      target: "es2022",
      minify: true,
      copyPublicDir: false,
    },
  });
  const tsc = join(root, "node_modules/typescript/bin/tsc");
  const declared = join(scratch, "declared");
  await run(process.execPath, [tsc, "--project", "tsconfig.types.json", "--outDir", declared], { cwd: root });
  for (const name of library.types)
    await cp(join(declared, "src", `${name}.d.ts`), join(out, `${name}.d.ts`));
  await rm(declared, { recursive: true });
  await writeFile(join(out, "package.json"), '{ "type": "module" }\n');
}

async function publish() {
  if (named.length === 0) await rm(join(root, "dist"), { recursive: true, force: true });
  await cp(scratch, join(root, "dist"), { recursive: true });
  for (const file of await files(scratch))
    console.log(`${String((await readFile(join(scratch, file))).length).padStart(9)}  dist/${file}`);
}

async function compare() {
  const names = new Set([...(await files(scratch)), ...(await files(join(root, "dist")))]);
  const stale = [];
  for (const name of names) {
    const [built, kept] = await Promise.all([scratch, join(root, "dist")].map((d) => content(join(d, name))));
    if (built !== kept) stale.push(name);
  }
  if (stale.length === 0) return console.log("dist/ is what src/ builds");
  console.error(`dist/ is not what src/ builds: ${stale.join(", ")}. Run "npm run build" and commit dist/.`);
  process.exitCode = 1;
}

async function files(folder) {
  const entries = await readdir(folder, { recursive: true, withFileTypes: true }).catch(() => []);
  return entries.filter((e) => e.isFile()).map((e) => relative(folder, join(e.parentPath, e.name)));
}

async function content(path) {
  return readFile(path, "latin1").catch(() => null);
}
