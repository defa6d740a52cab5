// Puts what the page builds on into src/moot/web/vendor: each library once, as a module, and the font, with their licences.
//
// `player.js` and `player.css` are our own replay in one piece each, for files that play without a server. What
// extensions tell of a debate (`page/report.js`) is in it.

import { existsSync, readdirSync } from 'node:fs';
import { copyFile, mkdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { build } from 'esbuild';

const OUT = 'src/moot/web/vendor';
const MODULES = {
  preact: `
    export { h, render, Fragment, createContext } from 'preact';
    export * from 'preact/hooks';
    export { signal, computed, effect, batch, untracked, useSignal, useComputed, useSignalEffect } from '@preact/signals';
    import { h } from 'preact';
    import htm from 'htm';
    export const html = htm.bind(h);`,
  prose: `
    export { marked } from 'marked';
    export { default as DOMPurify } from 'dompurify';`,
  chart: `export { default as uPlot } from 'uplot';`,
  swagger: `export { default as SwaggerUI } from 'swagger-ui-dist/swagger-ui-es-bundle.js';`,
};
const LICENSED = [
  'preact', '@preact/signals', '@preact/signals-core', 'htm', 'marked', 'dompurify', 'uplot', 'swagger-ui-dist',
  '@fontsource/source-serif-4',
];
// The faces that static/css/fonts.css names.
const FACES = ['400-normal', '400-italic', '600-normal'];
const COMMON = { bundle: true, minify: true, target: 'es2022', legalComments: 'none', logLevel: 'warning' };

const IN_PLAYER = ['preact', '@preact/signals', '@preact/signals-core', 'htm', 'marked', 'dompurify'];
const STATIC = 'src/moot/web/static';
const EXTENSIONS = 'src/moot/extensions';
const REPORTS = readdirSync(EXTENSIONS).filter((name) => existsSync(join(EXTENSIONS, name, 'page/report.js')));

// `node scripts/vendor.js player` makes the player alone.
await mkdir(OUT, { recursive: true });
if (process.argv[2] !== 'player') await libraries();
await player();

async function libraries() {
  for (const [name, contents] of Object.entries(MODULES)) {
    const stdin = { contents, resolveDir: '.' };
    await build({ ...COMMON, stdin, format: 'esm', outfile: `${OUT}/${name}.js` });
  }
  await build({ ...COMMON, entryPoints: ['node_modules/uplot/dist/uPlot.min.css'], outfile: `${OUT}/chart.css` });
  const viewer = 'node_modules/swagger-ui-dist/swagger-ui';
  await build({ ...COMMON, entryPoints: [`${viewer}.css`], outfile: `${OUT}/swagger.css` });
  for (const face of FACES) {
    const file = `source-serif-4-latin-${face}.woff2`;
    await copyFile(`node_modules/@fontsource/source-serif-4/files/${file}`, `${OUT}/${file}`);
  }
  // Swagger UI comes with what it builds on in one file, and their licences in another.
  const bundled = await readFile(`${viewer}-es-bundle.js.LICENSE.txt`, 'utf8');
  const texts = [...(await Promise.all(LICENSED.map(licence))), bundled];
  await writeFile(`${OUT}/LICENSES.txt`, texts.join('\n'));
}

/** One script and one stylesheet, to stand inside a document: nothing is loaded, so nothing waits for it. */
async function player() {
  const styles = new Set(['base']);
  const made = await build({
    ...COMMON,
    stdin: { contents: [...REPORTS.map(included), "import './player.js';"].join('\n'), resolveDir: STATIC },
    format: 'esm',
    charset: 'utf8',
    banner: { js: `/* Moot, with ${(await Promise.all(IN_PLAYER.map(credit))).join('; ')} */` },
    plugins: [
      { name: 'styles', setup: (making) => making.onLoad({ filter: /\/static\/.*\.js$/ }, noting(styles)) },
      { name: 'extensions', setup: (making) => making.onResolve({ filter: /^\.\.\// }, servedTogether) },
    ],
    write: false,
  });
  // What would end the element, or make the parser look for another end of it.
  const script = made.outputFiles[0].text.replaceAll('<!--', '\\x3c!--').replace(/<(?=\/?script)/gi, '\\x3c');
  await writeFile(`${OUT}/player.js`, script);
  const contents = [...styles].map((name) => `@import './${name}.css';`).join('\n');
  const stdin = { contents, loader: 'css', resolveDir: `${STATIC}/css` };
  await build({ ...COMMON, stdin, outfile: `${OUT}/player.css` });
}

/** Lines that put the report of an extension into the player. */
function included(name) {
  return `import { include as add_${name} } from './lib/extensions.js';
    import ${name} from '../../extensions/${name}/page/report.js';
    add_${name}('report', ${name});`;
}

/** The modules of an extension are served at `static/extensions/NAME/`, beside those of the page. */
function servedTogether({ path, importer }) {
  const name = /\/moot\/extensions\/(\w+)\/page\//.exec(importer)?.[1];
  return name && { path: join(process.cwd(), 'src/moot/web', join('static/extensions', name, path)) };
}

/** Remembers which stylesheets the modules ask for, and gives them nothing to wait for. */
function noting(styles) {
  return async ({ path }) => {
    const contents = await readFile(path, 'utf8');
    if (path.endsWith('/lib/stylesheet.js')) return { contents: 'export const ensureStyle = () => {};' };
    for (const [, name] of contents.matchAll(/ensureStyle\('([\w-]+)'\)/g)) styles.add(name);
    return { contents };
  };
}

async function credit(name) {
  const { version, license } = JSON.parse(await readFile(`node_modules/${name}/package.json`, 'utf8'));
  const holder = /^.*copyright .*\d{4}.*$/im.exec(await licence(name))?.[0].trim();
  return [`${name} ${version}`, license, holder].filter(Boolean).join(', ');
}

async function licence(name) {
  const { version, license } = JSON.parse(await readFile(`node_modules/${name}/package.json`, 'utf8'));
  for (const file of ['LICENSE', 'LICENSE.md']) {
    const text = await readFile(`node_modules/${name}/${file}`, 'utf8').catch(() => '');
    if (text) return `${name} ${version} (${license})\n\n${text}\n`;
  }
  throw new Error(`${name} has no licence file`);
}
