// Writes the texts a model reads into modules: `src/tools/generated.ts` from each tool's .md file
// and zod schema, `src/context/generated.ts` from prompts/*.md. The same module serves the sources
// and the bundle, and a start neither reads files nor computes schemas; the JSON Schema of
// config.json for editors; the OpenAPI document; a page for each problem type; the page of limits.
// `--check` writes nothing and exits 1 naming each stale file.
import assert from 'node:assert/strict'
import { existsSync, globSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { basename, dirname } from 'node:path'
import { argv, chdir, exit } from 'node:process'
import { fileURLToPath } from 'node:url'

chdir(fileURLToPath(new URL('..', import.meta.url)))
const registry = 'src/tools/registry.ts'
const outputs = { tools: 'src/tools/generated.ts', prompts: 'src/context/generated.ts' }

/** A module that exports `value` under `name`, preceded by what it is. */
const moduleOf = (about, declaration, value) =>
  `// ${about}\n` +
  `// Written by scripts/generate.mjs: change the source and run npm run generate.\n\n` +
  `${declaration} = ${JSON.stringify(value, null, 2)}\n`

const toolsModule = (texts) =>
  moduleOf(
    'What the model reads about each tool: its .md file and the JSON Schema of its input.',
    'export const toolTexts: Record<string, { description: string; input_schema: object }>',
    texts,
  )

const promptsModule = (texts) =>
  moduleOf(
    'The prompts of src/context/prompts, by file name.',
    'export const promptTexts: Record<string, string>',
    texts,
  )

/** Names in `byName` in a fixed order, so that the file does not depend on how they were found. */
const sorted = (byName) =>
  Object.fromEntries(Object.entries(byName).toSorted(([a], [b]) => (a < b ? -1 : 1)))

/** Bounds that a call is refused by, with its sentence: a model need not read them in advance. */
const unsaid = new Set([
  'additionalProperties',
  ...['minLength', 'maxLength', 'minItems', 'maxItems'],
  ...['minimum', 'maximum', 'exclusiveMinimum'],
])

/** A schema as a model is shown it; what is called like a bound may also be a property. */
const shown = (schema, isProperties = false) =>
  Object.fromEntries(
    Object.entries(schema)
      .filter(([key]) => isProperties || !unsaid.has(key))
      .map(([key, value]) => [
        key,
        typeof value === 'object' && value !== null && !Array.isArray(value)
          ? shown(value, key === 'properties' && !isProperties)
          : Array.isArray(value)
            ? value.map((one) => (typeof one === 'object' && one !== null ? shown(one) : one))
            : value,
      ]),
  )

/** Every tool's text and schema, by name. Throws naming a tool that lacks one. */
const toolTexts = async () => {
  const [{ z }, { tools }] = await Promise.all([import('zod'), import(`../${registry}`)])
  return Object.fromEntries(
    tools.map(({ name, input }) => {
      const { $schema: _, ...schema } = z.toJSONSchema(input(), { io: 'input', target: 'draft-7' })
      // Some providers refuse a union at the root of a tool's schema.
      if (schema.type !== 'object') throw new Error(`${name}: the input schema must be an object`)
      const file = `${name.replace(/(?<=[a-z])(?=[A-Z])/g, '-').toLowerCase()}.md`
      const [about] = globSync(`src/tools/**/${file}`)
      if (about === undefined) throw new Error(`${name}: src/tools has no ${file}`)
      return [
        name,
        { description: readFileSync(about, 'utf8').trim(), input_schema: shown(schema) },
      ]
    }),
  )
}

const promptTexts = () =>
  Object.fromEntries(
    globSync('src/context/prompts/*.md').map((path) => [
      basename(path, '.md'),
      readFileSync(path, 'utf8').trim(),
    ]),
  )

/** The published schema of `config.json`, from the one that validates it. */
const configSchema = async () => {
  const [{ z }, { configSchema }] = await Promise.all([
    import('zod'),
    import('../src/protocol/config.ts'),
  ])
  const schema = z.toJSONSchema(configSchema, { io: 'input', target: 'draft-2020-12' })
  const about = { title: 'config.json of a Holon home' }
  return `${JSON.stringify({ ...schema, ...about }, null, 2)}\n`
}

/** The document of the HTTP API: what is registered, on a home that nobody asks anything. */
const openApi = async () => {
  const { buildApp } = await import('../src/http/app.ts')
  const { documentOf } = await import('../src/http/openapi.ts')
  const unasked = new Proxy(
    {},
    { get: (_, name) => () => assert.fail(`asked for ${String(name)}`) },
  )
  const gate = { clock: unasked, control_token: unasked, port: unasked, hosts: [] }
  const { version } = JSON.parse(readFileSync('package.json', 'utf8'))
  const { app } = buildApp(unasked, gate, { version, webhooks: unasked, on_error: unasked })
  return `${JSON.stringify(documentOf(app, version), null, 2)}\n`
}

/** A page for each type of problem, by its path. */
const problemPages = async () => {
  const [{ problemCatalogue, problemOf }, { problemMeanings }] = await Promise.all([
    import('../src/protocol/problem.ts'),
    import('../src/protocol/problem-meaning.ts'),
  ])
  const codes = Object.keys(problemCatalogue).toSorted()
  const page = (code) => {
    const { type, status, hint, title } = problemOf(code, '')
    return [
      `# ${title}`,
      `\`${type}\`, status ${status}.`,
      problemMeanings[code],
      `**What to do.** ${hint}`,
      'All problems are listed in [the index](README.md).\n',
    ].join('\n\n')
  }
  const rows = codes.map(
    (code) => `| [\`${code}\`](${code}.md) | ${problemCatalogue[code].status} |`,
  )
  const index =
    '# Problems\n\nEvery refusal of the HTTP API is a problem document (RFC 9457), and so' +
    ' are the errors of\nthe command line with `--json`. Its `type` is `urn:holon:problem:`' +
    ' and, here, one of these.\n\n' +
    `| code | status |\n|---|---|\n${rows.join('\n')}\n`
  const folder = 'docs/reference/problems'
  return new Map([
    [`${folder}/README.md`, index],
    ...codes.map((code) => [`${folder}/${code}.md`, page(code)]),
  ])
}

/** The page of limits, from the table that every rule reads. */
const limitsPage = async () => {
  const { limits } = await import('../src/domain/limits.ts')
  const rows = Object.values(limits).map(
    ({ name, value, unit, reason }) =>
      `| \`${name}\` | ${value.toLocaleString('en')} | ${unit} | ${reason} |`,
  )
  return [
    '# Limits',
    'Every limit of the runtime. Over one of them an act is refused once, with the limit, the\n' +
      'value and what to do. Written by `scripts/generate.mjs` from `src/domain/limits.ts`.\n' +
      'How they were chosen: [0014](../decisions/0014-limits-are-named.md).',
    `| limit | number | unit | why |\n|---|---|---|---|\n${rows.join('\n')}\n`,
  ].join('\n\n')
}

const checking = argv.includes('--check')
const stale = []
const update = (path, text) => {
  if (existsSync(path) && readFileSync(path, 'utf8') === text) return
  stale.push(path)
  if (checking) return
  mkdirSync(dirname(path), { recursive: true })
  writeFileSync(path, text)
}

if (existsSync('src/context/prompts')) {
  update(outputs.prompts, promptsModule(sorted(promptTexts())))
}
if (existsSync(registry)) {
  // The tools may import what is about to be written: the first time there is an empty one.
  if (!existsSync(outputs.tools)) update(outputs.tools, toolsModule({}))
  if (existsSync(outputs.tools)) update(outputs.tools, toolsModule(sorted(await toolTexts())))
}

update('docs/reference/config.schema.json', await configSchema())
update('docs/reference/openapi.json', await openApi())
update('docs/spec/limits.md', await limitsPage())

const pages = await problemPages()
for (const [path, text] of pages) update(path, text)
for (const path of globSync('docs/reference/problems/*.md')) {
  if (pages.has(path)) continue
  stale.push(path)
  if (!checking) rmSync(path)
}

for (const path of new Set(stale)) console.error(`${path} ${checking ? 'is stale' : 'written'}`)
if (checking && stale.length > 0) {
  console.error('run npm run generate')
  exit(1)
}
