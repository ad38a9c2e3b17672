/**
 * A skill: a folder with a `SKILL.md` that says how some kind of work is done. What stands at its
 * head, a name and a description, goes into the catalogue of every request; the rest is read by the
 * agent when it needs it. Which of several with one name is meant, is decided here
 * (docs/spec/context.md#order).
 */
import { readFrontmatter } from './frontmatter.ts'
import { contextLimits } from './limits.ts'
import { clip, oneLine, quoted } from './phrase.ts'

/** A `SKILL.md` as it was found; `bytes` is null where it could not be read. */
export type SkillFound =
  | { ok: true; path: string; bytes: number; real_path: string; text: string }
  | { ok: false; path: string; bytes: number | null; notice: string }

/**
 * `offered`: in the catalogue. `hidden`: it would be, but `by` is nearer and has its name, or is
 * the same file. `unusable`: `notice` continues a sentence about the file.
 */
export type Skill =
  | { state: 'offered'; path: string; bytes: number; name: string; description: string }
  | { state: 'hidden'; path: string; bytes: number; name: string; by: string }
  | { state: 'unusable'; path: string; bytes: number | null; notice: string }

/** What was found in one look, nearest first; `not_looked_at` folders were too many. */
export type Skills = { skills: readonly Skill[]; not_looked_at: number }

/** Name and description of a `SKILL.md`, each on one line. */
export function readSkill(
  text: string,
): { ok: true; name: string; description: string } | { ok: false; notice: string } {
  const read = readFrontmatter(text, ['name', 'description'])
  if (!read.ok) return read
  const name = oneLine(read.fields.get('name') ?? '')
  const description = oneLine(read.fields.get('description') ?? '')
  const most = contextLimits.skill_name.value
  if (name === '') return { ok: false, notice: 'it has no "name"' }
  if (name.length > most) {
    return { ok: false, notice: `its "name" has ${name.length} characters, over ${most}` }
  }
  if (description === '') return { ok: false, notice: 'it has no "description"' }
  return { ok: true, name, description }
}

/**
 * `ranks` are places with their files, nearest first. The nearest of a name is offered; a second
 * one of the same place is a mistake and said so, one of a place further away is simply hidden. A
 * file that is reached by two ways is told of once.
 */
export function catalogued(ranks: readonly (readonly SkillFound[])[]): Skill[] {
  const byName = new Map<string, { path: string; rank: number }>()
  const byFile = new Map<string, string>()
  return ranks.flatMap((rank, at) =>
    rank.flatMap((found): Skill[] => {
      const { path, bytes } = found
      if (!found.ok) return [{ state: 'unusable', path, bytes, notice: found.notice }]
      const read = readSkill(found.text)
      const same = byFile.get(found.real_path)
      byFile.set(found.real_path, same ?? path)
      if (!read.ok) {
        return same === undefined ? [{ state: 'unusable', path, bytes, notice: read.notice }] : []
      }
      const { name, description } = read
      if (same !== undefined) return [{ state: 'hidden', path, bytes: found.bytes, name, by: same }]
      const nearer = byName.get(name)
      if (nearer === undefined) {
        byName.set(name, { path, rank: at })
        return [{ state: 'offered', path, bytes: found.bytes, name, description }]
      }
      if (nearer.rank === at) {
        const notice = `${clip(nearer.path, 200)} has the name ${quoted(name)} already`
        return [{ state: 'unusable', path, bytes, notice }]
      }
      return [{ state: 'hidden', path, bytes: found.bytes, name, by: nearer.path }]
    }),
  )
}
