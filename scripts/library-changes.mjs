/**
 * What the bundle changes of the libraries in it, each for what a start or a first frame would pay.
 * A library that no longer says what is replaced fails the build.
 */
import { resolve } from 'node:path'
import { oneCellEach } from '../src/present/text/graphemes.ts'

const replaced = (code, id, from, to) => {
  if (!code.includes(from)) throw new Error(`${id} no longer says ${from}`)
  return code.replaceAll(from, to)
}

const inLibrary = (id, path) => id.endsWith(`/node_modules/${path}`)

/** The schemas speak English; the bundle leaves sixty other languages of the library out. */
export const englishOnly = {
  name: 'english-only',
  load: (id) =>
    inLibrary(id, 'zod/v4/locales/index.js') ? `export { default as en } from './en.js'` : null,
}

/** The library asks for all of the schema language and changes one class of it. */
const oneClass = {
  name: 'one-class',
  transform: (code, id) =>
    id.includes('/node_modules/@hono/zod-openapi/')
      ? replaced(
          code,
          id,
          'extendZodWithOpenApi(z);',
          'extendZodWithOpenApi({ ZodType: z.ZodType });',
        )
      : null,
}

/** What nobody here asks for pulls in TLS, compression and clusters at every start of a daemon. */
const countersOnly = {
  name: 'counters-only',
  transform(code, id) {
    if (!inLibrary(id, 'prom-client/index.js')) return null
    const unused = /^exports\.(Pushgateway|collectDefaultMetrics|AggregatorRegistry) = .+;$/gm
    const kept = code.replaceAll(unused, '')
    if (code.match(unused)?.length !== 3) throw new Error(`${id} exports other things than it did`)
    return kept
  },
}

/**
 * The provider libraries make a `Headers` for every request; Node's own comes with all of undici,
 * which costs a start 40 ms. Ours does the same for them:
 * src/models/transport/fetch-conformance.test.ts.
 */
const plainHeaders = {
  name: 'plain-headers',
  transform(code, id) {
    if (!id.includes('/node_modules/@ai-sdk/') || !/\bHeaders\b/.test(code)) return null
    const ours = JSON.stringify(resolve('src/models/transport/fetch-response.ts'))
    return `import { PlainHeaders as Headers } from ${ours};\n${code}`
  },
}

/** Nobody is answered by HTTP/2 here, and its module loads TLS: 10 ms of a daemon's start. */
const noHttp2 = {
  name: 'no-http2',
  transform(code, id) {
    if (!inLibrary(id, '@hono/node-server/dist/index.mjs')) return null
    const whole = 'import { Http2ServerRequest, constants } from "node:http2";'
    return replaced(code, id, whole, 'class Http2ServerRequest {}\nconst constants = {};')
  },
}

/** Tools for developing screens are not installed, and a script cannot wait while it loads. */
const noDevtools = {
  name: 'no-devtools',
  transform(code, id) {
    if (!inLibrary(id, 'ink/build/reconciler.js')) return null
    const tools = replaced(code, id, "await import('./devtools.js')", '')
    const none = replaced(tools, id, 'await loadPackageJson()', 'packageInfo')
    return replaced(none, id, "process.env['DEV'] === 'true'", 'false')
  },
}

/**
 * The layout library awaits its machine code while it loads, which a script cannot: who loads what
 * draws waits for it instead. And it would get that code, which it carries, by `fetch`, whose first
 * use loads all of undici: 30 ms.
 */
const layoutAfterwards = {
  name: 'layout-afterwards',
  transform(code, id) {
    if (inLibrary(id, 'yoga-layout/dist/src/index.js')) {
      const now = 'const Yoga = wrapAssembly(await loadYoga());'
      const then = 'loadYoga().then((it) => Object.assign(Yoga, wrapAssembly(it)))'
      return replaced(code, id, now, `const Yoga = {};\nexport const layoutReady = ${then};`)
    }
    if (inLibrary(id, 'yoga-layout/dist/binaries/yoga-wasm-base64-esm.js')) {
      return replaced(code, id, 'return w||"function"!=typeof fetch?', 'return 1?')
    }
    if (id === resolve('src/tui/app.ts')) {
      return `${code}\nexport { layoutReady } from 'yoga-layout'`
    }
    if (id !== resolve('src/tui/follow.ts')) return null
    const ready = "import('./app.ts').then((it) => it.layoutReady.then(() => it))"
    return replaced(code, id, "import('./app.ts')", ready)
  },
}

const quickWidth = (code, id) => {
  const ascii = String.raw`/^[\u0020-\u007E]*$/`
  const emoji = String.raw`/^\p{RGI_Emoji}$/v`
  const late = `{ made: null, test(of) { return (this.made ??= ${emoji}).test(of) } }`
  return replaced(replaced(code, id, ascii, String(oneCellEach)), id, emoji, late)
}

/**
 * The first width of a text beyond ASCII costs a screen 50 ms: tables of graphemes, and of every
 * emoji. What takes one cell for certain needs neither: src/present/text/graphemes.ts, and its
 * test.
 */
const widthsAtOnce = {
  name: 'widths-at-once',
  transform(code, id) {
    if (!id.includes('/node_modules/')) return null
    const made = /new Intl\.Segmenter\((?:undefined, \{ ?granularity: ["']grapheme["'] ?\})?\)/g
    const quick = inLibrary(id, 'string-width/index.js') ? quickWidth(code, id) : code
    const ours = JSON.stringify(resolve('src/present/text/graphemes.ts'))
    return made.test(quick)
      ? `import { graphemes } from ${ours};\n${quick.replace(made, 'graphemes')}`
      : null
  },
}

export const libraryChanges = [
  plainHeaders,
  englishOnly,
  oneClass,
  countersOnly,
  noHttp2,
  noDevtools,
  layoutAfterwards,
  widthsAtOnce,
]
