/** Examples under the help of each command, by its whole name. */
const examples: Readonly<Record<string, readonly string[]>> = {
  holon: [
    'holon run examples/health.md          a runbook: no key, no cost',
    'holon run "list what is slow in this build" --model anthropic/claude-sonnet-4-6',
    'holon run --resume                          go on with everything open',
    'holon work list                             what is open, and what it waits for',
  ],
  'holon init': [
    'holon init                                  asks what it needs to know',
    'holon init --provider openai-compatible --base-url http://127.0.0.1:11434/v1',
    'holon init --no-input --provider anthropic --key-file ~/key --model claude-sonnet-5-5 --start',
  ],
  'holon serve': [
    'holon serve                                 until ctrl+c or SIGTERM; twice at once',
    'holon serve --port 0 --log-level debug',
  ],
  'holon start': ['holon start', 'holon start --port 8888'],
  'holon stop': ['holon stop', 'holon stop --home ~/holon-again'],
  'holon tui': [
    'holon tui                                   ? shows the keys; q leaves, agents go on',
    'holon tui work_7f3a                         opens that item; an agent by its name',
    'holon tui --ascii --no-color',
    'holon tui --plain                           lines only, for screen readers',
  ],
  'holon status': ['holon status', 'holon status --json | jq .ready'],
  'holon logs': ['holon logs --follow', 'holon logs -n 20 | jq -r .msg'],
  'holon service': ['holon service show', 'holon service show --manager launchd'],
  'holon service show': [
    'holon service show > ~/.config/systemd/user/holon.service',
    'holon service show --json | jq -r .path',
  ],
  'holon run': [
    'holon run "port the fixtures" --workspace ~/src/app',
    'holon run examples/health.md',
    'holon run notes.md --model openai/gpt-5.2   the text of the file, to a model',
    'holon run --resume                          send nothing, go on',
  ],
  'holon context': ['holon context show', 'holon context show --agent docs'],
  'holon context show': [
    'holon context show turn_7f3a                its newest request, and the cost of each',
    'holon context show turn_7f3a:12 --text',
    'holon context show turn_7f3a:13 --diff turn_7f3a:12',
  ],
  'holon send': [
    'holon send "leave the fixtures as they are"',
    'holon send --work-item work_7f3a "and add a test"',
  ],
  'holon take-back': ['holon take-back msg_7f3a', 'holon take-back msg_7f3a --quiet'],
  'holon answer': [
    'holon answer wait_3c1e 2                    a choice, by its key or label',
    'holon answer work_b210 "only the second one"',
  ],
  'holon search': [
    'holon search decorators "metadata order"',
    'holon search parseConfig --kind plan,report --agent docs',
  ],
  'holon trigger list': [
    'holon trigger list --agent docs',
    'holon trigger list --json | jq .triggers',
  ],
  'holon trigger create': [
    'holon trigger create "CI of the parser" --source ci --resource parser',
    'holon trigger create "Mail" --agent docs',
  ],
  'holon trigger reset': [
    'holon trigger reset trig_40aa',
    'holon trigger reset trig_40aa --json | jq -r .said',
  ],
  'holon trigger revoke': [
    'holon trigger revoke trig_40aa',
    'holon trigger revoke trig_40aa --quiet',
  ],
  'holon webhook': ['holon webhook list', 'holon webhook test github --agent docs'],
  'holon webhook list': ['holon webhook list', 'holon webhook list --json'],
  'holon webhook test': [
    `holon webhook test ci --body '{"type":"build.failed"}'`,
    'holon webhook test github --agent docs',
  ],
  'holon webhook deliveries': [
    'holon webhook deliveries --dead',
    'holon webhook deliveries --json | jq .deliveries',
  ],
  'holon webhook redeliver': [
    'holon webhook redeliver dlv_40aa',
    'holon webhook redeliver dlv_40aa --quiet',
  ],
  'holon schedule': [
    'holon schedule add "Look at the nightly build." --cron "0 7 * * 1-5" --zone Europe/Rome',
    'holon schedule list',
  ],
  'holon schedule add': [
    'holon schedule add "Is the release out?" --in 2h --work-item work_7f3a',
    'holon schedule add "Weekly report." --cron "0 9 * * 1" --missed skip',
  ],
  'holon schedule list': [
    'holon schedule list --all',
    'holon schedule list --json | jq .schedules',
  ],
  'holon schedule pause': [
    'holon schedule pause sched_40aa',
    'holon schedule pause sched_40aa --quiet',
  ],
  'holon schedule resume': [
    'holon schedule resume sched_40aa',
    'holon schedule resume sched_40aa --quiet',
  ],
  'holon schedule remove': [
    'holon schedule remove sched_40aa',
    'holon schedule remove sched_40aa --quiet',
  ],
  'holon schedule slots': [
    'holon schedule slots sched_40aa',
    'holon schedule slots sched_40aa --json | jq .slots',
  ],
  'holon backup': ['holon backup ~/backups', 'holon backup ~/backups --with-secrets'],
  'holon restore': [
    'holon restore ~/backups/<backup> --home ~/holon-again',
    'holon restore ./backup --home ./elsewhere',
  ],
  'holon retention': ['holon retention --before 90d --dry-run', 'holon retention --keep-days 365'],
  'holon token': ['holon token rotate', 'holon token rotate --quiet'],
  'holon token rotate': ['holon token rotate', 'holon token rotate --json'],
  'holon agents abort': ['holon agents abort docs', 'holon agents abort docs --no-stop'],
  'holon agents create': [
    'holon agents create docs --model openai/gpt-5.2 --workspace ~/src/docs',
    'holon agents create triage --template reviewer',
  ],
  'holon agents list': ['holon agents list --json | jq .agents', 'holon agents list'],
  'holon agents show': ['holon agents show main', 'holon agents show main.1'],
  'holon agents configure': [
    'holon agents configure docs --workspace ~/src/handbook',
    'holon agents configure docs --model openai/gpt-5.2 --no-fallback',
  ],
  'holon worktree': ['holon worktree list', 'holon worktree discard task_91c2'],
  'holon worktree list': [
    'holon worktree list --all',
    'holon worktree list --json | jq .worktrees',
  ],
  'holon worktree snapshot': [
    'holon worktree snapshot task_91c2',
    'holon worktree snapshot task_91c2 --json',
  ],
  'holon worktree restore': [
    'holon worktree restore task_91c2',
    'holon worktree restore task_91c2 --json',
  ],
  'holon worktree discard': [
    'holon worktree discard task_91c2',
    'holon worktree discard task_91c2 --json',
  ],
  'holon worktree remove': [
    'holon worktree remove task_91c2',
    'holon worktree remove task_91c2 --json',
  ],
  'holon agents delete': ['holon agents delete docs', 'holon agents delete docs --quiet'],
  'holon trigger': [
    `holon trigger wait_40aa --body '{"conclusion":"success"}'`,
    'holon trigger wait_40aa',
  ],
  'holon work': ['holon work list --all', 'holon work show work_7f3a'],
  'holon work check': [
    'holon work check add work_7f3a tests --cmd "npm test"',
    'holon work check list work_7f3a             claimed, or verified, and by what',
  ],
  'holon work check list': [
    'holon work check list work_7f3a',
    'holon work check list work_7f3a --json | jq .checks',
  ],
  'holon work check add': [
    'holon work check add work_7f3a tests --cmd "npm test" --timeout 10m',
    'holon work check add work_7f3a notes --file RELEASE.md --contains 2.4.0',
    'holon work check add work_7f3a live --url https://example.org/health --status 200',
    'holon work check add work_7f3a look --ask "Is it what you meant?"',
  ],
  'holon work check rm': [
    'holon work check rm work_7f3a tests',
    'holon work check rm work_7f3a tests --quiet',
  ],
  'holon work check run': [
    'holon work check run work_7f3a tests',
    'holon work check run work_7f3a',
  ],
  'holon work check answer': [
    'holon work check answer work_7f3a look pass "as I meant it"',
    'holon work check answer work_7f3a look fail "the second page is empty"',
  ],
  'holon work list': ['holon work list --agent docs', 'holon work list --json | jq .work_items'],
  'holon work show': ['holon work show work_7f3a', 'holon work show work_7f3a --trace'],
  'holon work create': [
    'holon work create "Port the fixtures" --agent docs',
    'holon work create "Port the grammar" --max-usd 5 --check "tests=npm test"',
  ],
  'holon work update': [
    'holon work update work_7f3a --max-tokens 200000 --max-usd 5',
    'holon work update work_7f3a --deadline 2026-12-01T09:00 --max-rounds none',
    'holon work update work_7f3a --plan-status ready --todo "[x] read" "[>] write" "test"',
  ],
  'holon work unblock': ['holon work unblock work_22e0', 'holon work unblock work_22e0 --quiet'],
  'holon work pick': [
    'holon work pick work_7f3a --reason "the release waits for it"',
    'holon work pick work_7f3a',
  ],
  'holon work complete': [
    'holon work complete work_7f3a --report "Done by hand."',
    'holon work complete work_7f3a',
  ],
  'holon why': [
    'holon why work_b210',
    'holon why work_b210 --history',
    'holon why work_b210 --json | jq .next',
  ],
  'holon export': [
    'holon export work_7f3a > item.jsonl',
    'holon export work_7f3a --to ~/item.jsonl',
  ],
  'holon import': ['holon import item.jsonl', 'holon import item.jsonl --agent docs --again'],
  'holon replay': ['holon replay turn_7f3a', 'holon replay turn_7f3a --json'],
  'holon inbox': ['holon inbox', 'holon inbox snooze wait_3c1e --for 2h'],
  'holon inbox snooze': [
    'holon inbox snooze wait_3c1e --for 2h',
    'holon inbox snooze wait_3c1e --until 2026-12-01T09:00',
  ],
  'holon inbox dismiss': ['holon inbox dismiss turn_40aa', 'holon inbox dismiss wait_3c1e --quiet'],
  'holon tasks': ['holon tasks --all', 'holon tasks output task_91c2'],
  'holon tasks show': [
    'holon tasks show task_91c2',
    'holon tasks show task_91c2 --json | jq .status',
  ],
  'holon tasks output': [
    'holon tasks output task_91c2 --tail 20',
    'holon tasks output task_91c2 --stream stderr',
  ],
  'holon tasks follow': ['holon tasks follow task_91c2', 'holon tasks follow task_91c2 --quiet'],
  'holon tasks input': [
    'holon tasks input task_91c2 yes',
    'holon tasks input task_91c2 "use the second one"   a child is told so',
    'holon tasks input task_91c2 --end',
  ],
  'holon tasks stop': ['holon tasks stop task_91c2', 'holon tasks stop task_91c2 --quiet'],
  'holon waits': ['holon waits', 'holon waits cancel wait_40aa'],
  'holon waits cancel': ['holon waits cancel wait_40aa', 'holon waits cancel wait_40aa --quiet'],
  'holon agents': ['holon agents', 'holon agents start docs'],
  'holon agents start': ['holon agents start docs', 'holon agents start main'],
  'holon agents stop': ['holon agents stop docs', 'holon agents stop main'],
  'holon briefs': ['holon briefs --work-item work_7f3a', 'holon briefs --agent docs --limit 3'],
  'holon events': ['holon events --follow', 'holon events --after 1200 --json'],
  'holon doctor': ['holon doctor --verify', 'holon doctor --json | jq .checks'],
  'holon completion': [
    'source <(holon completion bash)',
    'holon completion zsh > ~/.zfunc/_holon',
    'holon completion fish > ~/.config/fish/completions/holon.fish',
  ],
  'holon config': ['holon config show', 'holon config set model anthropic/claude-sonnet-4-6'],
  'holon config show': ['holon config show --json', 'holon config show'],
  'holon config path': ['holon config path', 'holon config path --home ~/holon-again'],
  'holon config get': ['holon config get model', 'holon config get providers.local.kind'],
  'holon config unset': ['holon config unset summary_model', 'holon config unset budget.day'],
  'holon config set': [
    'holon config set model local/qwen3-coder',
    'holon config set providers.local.kind openai-compatible',
  ],
}

export function examplesOf(path: string): string {
  const lines = examples[path] ?? []
  return lines.length === 0
    ? ''
    : `\nExamples:\n${lines.map((line) => (line === '' ? '' : `  ${line}`)).join('\n')}`
}
