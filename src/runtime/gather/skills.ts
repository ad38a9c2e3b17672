/**
 * Finds the skills of an agent: `skills/` of its own home, then `.agents/skills/` and
 * `.claude/skills/` of its workspace, each with a folder a skill and a `SKILL.md` in it (
 * docs/spec/agent.md, docs/spec/context.md#order). Offered is what the agent's ReadFile would open,
 * so they are read under its own roots.
 */
import { contextLimits } from '../../context/limits.ts'
import { catalogued, type SkillFound, type Skills } from '../../context/skill.ts'
import { FileFault } from '../../exec/files/file-fault.ts'
import { agentRoots } from '../../exec/files/path-policy.ts'
import { agentHome } from '../home.ts'
import type { InstructionFiles, InstructionPlace } from './instructions.ts'
import { readText } from './text-file.ts'

/** Nearest first. An agent's own go before those of a repository, which others may write. */
const placesOf = ({ home, agent_id, workspace }: InstructionPlace): string[] => [
  `${agentHome(home, agent_id)}/skills`,
  `${workspace}/.agents/skills`,
  `${workspace}/.claude/skills`,
]

/** As they are now; whatever is wrong with one is said of that one. */
export async function readSkills(
  files: InstructionFiles,
  place: InstructionPlace,
): Promise<Skills> {
  const roots = agentRoots({ ...place, owned: [] })
  let room = contextLimits.skill_folders.value
  let not_looked_at = 0
  const ranks: SkillFound[][] = []
  for (const folder of placesOf(place)) {
    const inside = await foldersIn(files, folder)
    if (!Array.isArray(inside)) {
      ranks.push([inside])
      continue
    }
    const looked = inside.slice(0, room)
    room -= looked.length
    not_looked_at += inside.length - looked.length
    const found = await Promise.all(
      looked.map(async (name): Promise<SkillFound[]> => {
        const path = `${folder}/${name}/SKILL.md`
        const read = await readText(files, roots, path, contextLimits.skill_file.value)
        return read === null ? [] : [{ path, ...read }]
      }),
    )
    ranks.push(found.flat())
  }
  return { skills: catalogued(ranks), not_looked_at }
}

/** The folders in it, by name, and links, which may lead to folders; none where it is missing. */
async function foldersIn(
  files: InstructionFiles,
  path: string,
): Promise<string[] | (SkillFound & { ok: false })> {
  try {
    // Most agents have none, and a look costs less than a listing that fails.
    if (!(await files.exists(path))) return []
    const entries = await files.list(path)
    return entries
      .filter(({ kind }) => kind === 'folder' || kind === 'link')
      .map(({ name }) => name)
  } catch (error) {
    if (!(error instanceof FileFault)) throw error
    if (error.code === 'not_found') return []
    const notice = error.message.replace(`${path}: `, '')
    return { ok: false, path, bytes: null, notice }
  }
}
