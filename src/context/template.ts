/**
 * Texts of prompts/*.md with their places filled. A place is `{{name}}`; what is put in is never
 * looked at again, so a value cannot open a place of its own.
 */
import { promptTexts } from './generated.ts'

/** A whole prompt file. Throws for a name without a file: a bug. */
export function promptText(stem: string): string {
  const text = promptTexts[stem]
  if (text === undefined) throw new Error(`no prompts/${stem}.md`)
  return text
}

/** The text under `## name` of a prompt file, every place filled. Throws for a place left open. */
export function template(
  stem: 'agent' | 'anchors' | 'notes' | 'fork' | 'child' | 'summary',
  name: string,
  values: Readonly<Record<string, string>> = {},
): string {
  const text = sectionsOf(promptText(stem)).get(name)
  if (text === undefined) throw new Error(`no section ${name} in prompts/${stem}.md`)
  return text.replace(/\{\{(\w+)\}\}/g, (_, key: string) => {
    const value = values[key]
    if (value === undefined) throw new Error(`${stem}.md, ${name}: no value for {{${key}}}`)
    return value
  })
}

/** The sections of a prompt file by their `## name`. */
export function sectionsOf(text: string): ReadonlyMap<string, string> {
  const parts = text.split(/^## (\w+)$/m)
  const found = new Map<string, string>()
  for (let i = 1; i + 1 < parts.length; i += 2)
    found.set(parts[i] ?? '', (parts[i + 1] ?? '').trim())
  return found
}
