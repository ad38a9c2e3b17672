/**
 * How the options of some programs are written, so that a rule about a flag is about all spellings
 * of it. Data: an option that stands in neither list may have the next word as its value or not,
 * and what is behind it is then not known.
 */

export type ProgramGrammar = {
  /** Options that have a value, in the next word unless it is joined by `=` or without a gap. */
  values: readonly string[]
  /** Options without one. */
  switches: readonly string[]
  /** Letters and the long options that they are; the same in all subcommands, or left out. */
  letters: Readonly<Record<string, string>>
  /** Whether the beginning of a long option is taken for it, as far as it is the only one. */
  shortens: boolean
  /** Whether one dash has several letters: `-rf`. */
  bundles: boolean
}

const words = (text: string): string[] => text.split(/\s+/).filter((word) => word !== '')

const git: ProgramGrammar = {
  values: words(`-C -c --git-dir --work-tree --namespace --config-env --attr-source --repo
    -o --push-option --receive-pack --upload-pack --exec -m --message -F --author --date -b -B
    --depth --branch --origin --reference --format --pretty --since --until --after --before
    --grep -n --max-count -S -G`),
  switches: words(`-p -P --paginate --no-pager --bare --no-replace-objects --literal-pathspecs
    --no-optional-locks --version --help --html-path --man-path --info-path
    -f --force --force-with-lease --force-if-includes --no-force-with-lease --all --branches
    --mirror --tags --follow-tags --no-follow-tags --delete -d --prune -n --dry-run --porcelain
    -u --set-upstream --atomic --no-verify --verify --thin --no-thin -q --quiet -v --verbose
    --progress --no-progress -a --amend --hard --soft --mixed --keep --merge -x -X -D --oneline
    --graph --stat --cached --staged --short -s --name-only --name-status --abort --continue
    --rebase --no-rebase --ff-only --no-ff --squash --recurse-submodules --signed --no-signed
    -4 --ipv4 -6 --ipv6`),
  letters: { f: '--force', d: '--delete', q: '--quiet', v: '--verbose', u: '--set-upstream' },
  shortens: true,
  bundles: true,
}

const rm: ProgramGrammar = {
  values: [],
  switches: words(`-f --force -i -I --interactive --one-file-system --no-preserve-root
    --preserve-root -r -R --recursive -d --dir -v --verbose --help --version`),
  letters: { f: '--force', r: '--recursive', R: '--recursive', d: '--dir', v: '--verbose' },
  shortens: true,
  bundles: true,
}

const npm: ProgramGrammar = {
  values: words(`--prefix -C -w --workspace --registry --userconfig --globalconfig --cache
    --loglevel --tag --otp --access --omit --include --script-shell --node-options -c --call
    --package --before --scope --cwd`),
  switches: words(`-s --silent -d -dd -ddd -q --quiet --verbose -g --global -f --force -D
    --save-dev -S --save -E --save-exact -O --save-optional --no-save --ws --workspaces
    --include-workspace-root --ignore-scripts --if-present --dry-run --json --long -l
    --offline --prefer-offline --prefer-online --no-audit --no-fund --foreground-scripts -y --yes
    --no --no-package-lock --package-lock-only --legacy-peer-deps -h --help -v --version`),
  letters: { f: '--force', g: '--global', s: '--silent', y: '--yes', w: '--workspace' },
  shortens: true,
  bundles: false,
}

const docker: ProgramGrammar = {
  values: words(`--config -c --context -H --host -l --log-level --tlscacert --tlscert --tlskey
    -e --env --env-file -v --volume --mount -p --publish --name -w --workdir -u --user --network
    --net --entrypoint -t --tag -f --file --build-arg --target --platform --cap-add --device
    --pid --ipc --userns --security-opt --restart -m --memory --cpus --project-name
    --project-directory --profile`),
  switches: words(`-D --debug --tls --tlsverify --rm -t -i --interactive --tty -d --detach
    --privileged --init --read-only -a --all -q --quiet --no-cache --pull --push --force
    --volumes --help --version`),
  letters: {
    e: '--env',
    v: '--volume',
    p: '--publish',
    w: '--workdir',
    u: '--user',
    i: '--interactive',
    d: '--detach',
    a: '--all',
    q: '--quiet',
    f: '--force',
  },
  shortens: false,
  bundles: true,
}

const kubectl: ProgramGrammar = {
  values: words(`-n --namespace --context --cluster --user --kubeconfig -s --server --token
    --as --as-group --request-timeout --certificate-authority --client-certificate --client-key
    -f --filename -k --kustomize -l --selector -o --output --field-selector -c --container
    --replicas --grace-period --timeout --image --tail --since --type -p --patch`),
  switches: words(`-A --all-namespaces --all --force --now --wait -i --stdin -t --tty --watch -w
    --recursive -R --insecure-skip-tls-verify --prune --server-side -v --help -h`),
  letters: {
    n: '--namespace',
    f: '--filename',
    l: '--selector',
    o: '--output',
    A: '--all-namespaces',
  },
  shortens: false,
  bundles: true,
}

const gh: ProgramGrammar = {
  values: words(`-R --repo --hostname -t --title -b --body -F --body-file -B --base -H --head
    -a --assignee -l --label -m --milestone -p --project -r --reviewer -X --method -f
    --raw-field --field --header -q --jq --template --json -L --limit -s --state --input -n
    --notes --target --subject --match-head-commit`),
  switches: words(`--help --version -w --web -d --draft --fill --admin --auto --squash --merge
    --rebase --delete-branch --yes --force --paginate --private --public --prerelease
    --latest --comment --approve --request-changes`),
  letters: { R: '--repo', X: '--method', w: '--web', d: '--draft' },
  shortens: false,
  bundles: true,
}

export const grammars: Readonly<Record<string, ProgramGrammar>> = {
  git,
  rm,
  npm,
  docker,
  kubectl,
  gh,
}
