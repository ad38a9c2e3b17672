/** The policies that come with the program, as data. A file's rules stand beside one of them. */
import type { Otherwise, Policy, PolicyRule, PresetName, RuleSubject } from './rule.ts'

type Preset = Pick<Policy, 'rules' | 'otherwise' | 'asking'>

function rulesOf(
  preset: PresetName,
  of: readonly (Pick<PolicyRule, 'decide' | 'why'> & { subject: RuleSubject; in?: 'workspace' })[],
): PolicyRule[] {
  return of.map(({ in: area = null, ...rule }) => ({
    ...rule,
    in: area,
    origin: null,
    agent: null,
    source: { from: 'preset', preset },
  }))
}

const run = (...tokens: (RuleSubject & { kind: 'run' })['tokens']): RuleSubject => ({
  kind: 'run',
  tokens,
})

/**
 * Tests and looks are free in the workspace; pushes, publishing and programs that speak to other
 * machines ask. What is fetched does not: the network is the sandbox's.
 */
const work = (preset: PresetName): PolicyRule[] =>
  rulesOf(preset, [
    ...[
      run('npm', ['test', 't', 'ci']),
      run('npm', ['run', 'run-script'], ['test', 'check', 'lint', 'build', 'typecheck']),
      run('node', '--test'),
      run(['pytest', 'vitest', 'jest']),
      run(['cargo', 'go'], ['test', 'build', 'vet', 'check']),
      run('make', ['test', 'check']),
      run('git', ['status', 'diff', 'log', 'show', 'blame', 'rev-parse', 'ls-files', 'grep']),
      run('git', ['add', 'commit', 'switch', 'stash', 'restore']),
    ].map((subject) => ({ decide: 'allow', subject, in: 'workspace', why: '' }) as const),
    ...[
      run(['cd', 'pwd', 'echo', 'printf', 'true', 'false', 'test', '[', ':', 'export', 'exit']),
      run(['ls', 'cat', 'head', 'tail', 'wc', 'grep', 'rg', 'sort', 'uniq', 'cut', 'tr', 'diff']),
      run(['which', 'type', 'uname', 'date', 'basename', 'dirname', 'realpath', 'stat', 'sleep']),
    ].map((subject) => ({ decide: 'allow', subject, why: '' }) as const),
    ...[
      run('git', ['push', 'send-pack']),
      run('git', 'remote', ['add', 'set-url', 'remove', 'rename']),
      run('npm', ['publish', 'unpublish', 'deprecate', 'dist-tag', 'owner', 'access', 'login']),
      run('docker', ['push', 'login']),
      run(['gh', 'glab', 'kubectl', 'helm', 'terraform', 'aws', 'gcloud', 'az']),
    ].map((subject) => ({ decide: 'ask', subject, why: 'it changes what others see' }) as const),
    ...[run(['curl', 'wget', 'ssh', 'scp', 'sftp', 'rsync', 'nc', 'ncat', 'telnet', 'ftp'])].map(
      (subject) => ({ decide: 'ask', subject, why: 'it speaks to another machine' }) as const,
    ),
    {
      decide: 'ask',
      subject: run(['sudo', 'doas', 'su']),
      why: 'it acts with the rights of somebody else',
    },
  ])

const usual: Otherwise = { run: 'sandboxed', write: 'workspace', host: 'ask', mcp: 'ask' }

export const presets: Readonly<Record<PresetName, Preset>> = {
  watch: {
    rules: rulesOf('watch', [
      {
        decide: 'ask',
        subject: {
          kind: 'call',
          tools: [],
          classes: ['content_checked', 'keyed', 'reattachable', 'non_repeatable'],
        },
        why: 'everything is asked but what only looks',
      },
    ]),
    otherwise: { run: 'ask', write: 'ask', host: 'ask', mcp: 'ask' },
    asking: 'operator',
  },
  work: { rules: work('work'), otherwise: usual, asking: 'operator' },
  alone: { rules: work('alone'), otherwise: usual, asking: 'nobody' },
  open: {
    rules: [],
    otherwise: { run: 'allow', write: 'allow', host: 'allow', mcp: 'allow' },
    asking: 'operator',
  },
}
