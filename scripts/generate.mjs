// Writes the texts a model reads into modules: `src/tools/generated.ts` from each tool's .md file
// and zod schema, `src/context/generated.ts` from prompts/*.md. The same module serves the sources
// and the bundle, and a start neither reads files nor computes schemas; and the JSON Schema of
// config.json for editors. `--check` writes nothing and exits 1 naming each stale file.
import { existsSync, globSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
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

/** Every tool's text and schema, by name. Throws naming a tool that lacks one. */
const toolTexts = async () => {
  const [{ z }, { tools }] = await Promise.all([import('zod'), import(`../${registry}`)])
  return Object.fromEntries(
    tools.map(({ name, input }) => {
      const { $schema: _, ...schema } = z.toJSONSchema(input(), { io: 'input', target: 'draft-7' })
      // Some providers refuse a union at the root of a tool's schema.
      if (schema.type !== 'object') throw new Error(`${name}: the input schema must be an object`)
      const about = `src/tools/${name.replace(/(?<=[a-z])(?=[A-Z])/g, '-').toLowerCase()}.md`
      if (!existsSync(about)) throw new Error(`${name}: ${about} is missing`)
      return [name, { description: readFileSync(about, 'utf8').trim(), input_schema: schema }]
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

for (const path of new Set(stale)) console.error(`${path} ${checking ? 'is stale' : 'written'}`)
if (checking && stale.length > 0) {
  console.error('run npm run generate')
  exit(1)
}
