/**
 * The skills section: the catalogue of what an agent can look up, one line a skill, bounded. Bodies
 * are never in it. Names and descriptions are quoted, for a repository may have written them.
 */
import type { TokenEstimator } from '../estimate.ts'
import { block } from '../fence.ts'
import { noticeLines } from './instructions.ts'
import { contextLimits } from '../limits.ts'
import type { FileLine } from '../message.ts'
import { clip, counted, oneLine } from '../phrase.ts'
import { omitted, type Section } from '../section.ts'
import type { Skill, Skills } from '../skill.ts'

type Offered = Skill & { state: 'offered' }

const head =
  '# Skills\n\n' +
  'Ways of doing some kind of work, each in a file: name, what it is for, path. Nothing but the ' +
  'list is here.'

/** Descriptions give way first, then whole lines, the farthest first, which are then counted. */
export function skillSection(
  { skills, not_looked_at }: Skills,
  view: { tokens: TokenEstimator; window: number },
): Section {
  const offered = skills.filter((skill) => skill.state === 'offered')
  const notices = noticesOf(skills, not_looked_at)
  if (offered.length === 0 && notices.length === 0) return omitted('skills', 'there is none')
  const share = Math.floor(view.window * contextLimits.skills_share.value)
  const room = Math.min(contextLimits.skills_tokens.value, share)
  const { shown, chars } = fitting(offered, view.tokens, room)
  const left_out = offered.length - shown.length
  const text = [
    head,
    ...(notices.length === 0 ? [] : [notices.join('\n')]),
    ...(shown.length === 0 ? [] : [block('catalogue', 'skills', linesOf(shown, chars))]),
    ...(left_out === 0 ? [] : [leftOut(offered.slice(shown.length))]),
  ].join('\n\n')
  const isShort = shown.some(({ description }) => description.length > chars)
  const isWhole = left_out === 0 && not_looked_at === 0 && !isShort
  const files = skills.map((skill) => lineOf(skill, new Set(shown.map(({ path }) => path))))
  const why = whyOf(shown, left_out, skills, isShort)
  return { section: 'skills', text, form: isWhole ? 'full' : 'compact', why, files }
}

function fitting(offered: readonly Offered[], tokens: TokenEstimator, room: number) {
  const [long, short] = [contextLimits.skill_line.value, contextLimits.skill_short.value]
  if (tokens(linesOf(offered, long)) <= room) return { shown: offered, chars: long }
  let left = room
  const over = offered.findIndex((skill) => {
    left -= tokens(`${lineFor(skill, short)}\n`)
    return left < 0
  })
  return { shown: over < 0 ? offered : offered.slice(0, over), chars: short }
}

const linesOf = (skills: readonly Offered[], chars: number): string =>
  skills.map((skill) => lineFor(skill, chars)).join('\n')

const lineFor = ({ name, description, path }: Offered, chars: number): string =>
  `- ${name}: ${clip(description, chars)} (${oneLine(path)})`

function leftOut(skills: readonly Offered[]): string {
  const places = [...new Set(skills.map(({ path }) => path.split('/').slice(0, -2).join('/')))]
  const named = places.map((place) => JSON.stringify(oneLine(place))).join(', ')
  return `${counted(skills.length, 'more skill')} left out here for lack of room, in ${named}.`
}

function noticesOf(skills: readonly Skill[], not_looked_at: number): string[] {
  const unusable = skills.filter((skill) => skill.state === 'unusable')
  const lines = unusable.map(({ path, notice }) => ({ path, notice: `not listed: ${notice}` }))
  return [
    ...noticeLines(lines),
    ...(not_looked_at === 0
      ? []
      : [`${counted(not_looked_at, 'more folder')} of skills not looked at: too many.`]),
  ]
}

function whyOf(
  shown: readonly Offered[],
  left_out: number,
  skills: readonly Skill[],
  isShort: boolean,
): string {
  const unusable = skills.filter(({ state }) => state === 'unusable').length
  return [
    counted(shown.length, 'skill'),
    ...(isShort ? ['descriptions shortened'] : []),
    ...(left_out === 0 ? [] : [`no room for ${left_out} more`]),
    ...(unusable === 0 ? [] : [`${counted(unusable, 'file')} unusable`]),
  ].join('; ')
}

function lineOf(skill: Skill, shown: ReadonlySet<string>): FileLine {
  const { path, bytes } = skill
  switch (skill.state) {
    case 'offered':
      return shown.has(path)
        ? { path, bytes, form: 'full', why: `skill ${skill.name}` }
        : { path, bytes, form: 'omitted', why: `skill ${skill.name}: no room in the catalogue` }
    case 'hidden':
      return { path, bytes, form: 'omitted', why: `skill ${skill.name} is ${skill.by}` }
    case 'unusable':
      return { path, bytes, form: 'omitted', why: skill.notice }
  }
}
