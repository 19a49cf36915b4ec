/** Test rows for commands that change parts of existing objects. */
import { map, type Part, r, web } from './row.ts'

/** A kind that requires a resourceVersion in updates. */
const budget = `apiVersion: policy/v1
kind: PodDisruptionBudget
metadata: {name: few}
spec: {minAvailable: 1, selector: {matchLabels: {app: web}}}
`

export const changing: Part = {
  name: 'changing',
  given: `${map('one')}---\n${map('two')}---\n${web}---\n${budget}`,
  rows: [
    r('label', 'cm one app=x tier=y', { stdout: 'configmap/one labeled\n' }),
    r('label', 'cm one app=z', { stderr: "error: 'app' already has a value (x), and --overwrite is false\n", code: 1 }),
    r('label', 'cm one app=z --overwrite', { stdout: 'configmap/one labeled\n' }),
    r('label', 'cm one app=z tier-', { stdout: 'configmap/one labeled\n' }),
    r('label', 'cm -l app=z more=1 -o name', { stdout: 'configmap/one\n' }),
    r('label', 'cm one absent-', { stdout: 'label "absent" not found.\nconfigmap/one not labeled\n' }),
    r('label', 'cm one', {
      stderr: 'error: at least one label update is required: use key=value to set a value, or key- to remove a key\n',
      code: 1,
    }),
    r('label', 'cm one app=-bad --dry-run=client', {
      stderr: /^error: invalid label value: "app=-bad": a valid label must/,
      code: 1,
    }),
    r('label', 'cm one --list', { stdout: 'app=z\nmore=1\n' }),
    r('label', 'cm one two --list', {
      stdout: 'Listing labels for configmap/one:\n app=z\n more=1\nListing labels for configmap/two:\n',
    }),
    r('label', 'cm one --list -o yaml', {
      stderr: 'error: --list and --output may not be specified together\n',
      code: 1,
    }),
    r('patch', 'cm one -p {} --dry-run=server', { stdout: 'configmap/one patched (no change) (server dry run)\n' }),
    r('label', 'cm oen a=b', {
      stderr: 'Error from server (NotFound): configmaps "oen" not found; did you mean "one"?\n',
      code: 1,
    }),
    r('annotate', "cm one 'note=a b' --dry-run=client", { stdout: 'configmap/one annotated (dry run)\n' }),
    r('annotate', "cm one 'note=a b'", { stdout: 'configmap/one annotated\n' }),
    r('annotate', 'cm one nothing-', { stdout: 'configmap/one not annotated\n' }),
    r('patch', "cm one -p '{data: {k: w}}' -o jsonpath={.data.k}", { stdout: 'w' }),
    r('patch', `cm one --type=json -p '[{"op":"remove","path":"/data/k"}]'`, { stdout: 'configmap/one patched\n' }),
    r('patch', `cm one --type=merge -p '{"data":null}'`, { stdout: 'configmap/one patched (no change)\n' }),
    r('patch', `cm one --type=merge -p '{"data":{"m":"x"}}' --dry-run=client`, {
      stdout: 'configmap/one patched (dry run)\n',
    }),
    r('get', 'cm one -o jsonpath={.data}'),
    r('patch', "cm one -p '{'", { stderr: /^error: unable to parse the patch: it is not valid YAML/, code: 1 }),
    r('replace', '-f -', { stdin: map('one').replace('{k: v}', '{name: new}'), stdout: 'configmap/one replaced\n' }),
    r('create', '-f -', { stdin: map('held', ', finalizers: [example.com/held]'), stdout: 'configmap/held created\n' }),
    r('delete', 'cm held --wait=false', { stdout: 'configmap "held" deleted\n' }),
    r('patch', `cm held --type=merge -p '{"metadata":{"finalizers":null}}'`, { stdout: 'configmap/held patched\n' }),
    r('get', 'cm held --ignore-not-found'),
    r('replace', '-f - --force', { stdin: map('two'), stdout: 'configmap/two replaced\n' }),
    r('replace', '-f - --subresource=status -o jsonpath={.status.replicas}', {
      stdin: `${web}status: {replicas: 7}\n`,
      stdout: '7',
    }),
    r('replace', '-f - --subresource=status --force', {
      stdin: web,
      stderr: 'error: --force and --subresource are mutually exclusive: a subresource cannot be recreated\n',
      code: 1,
    }),
    r('edit', 'deploy web --subresource=scale -o jsonpath={.kind}{.spec.replicas}', {
      environment: { EDITOR: 'sed -i "s/replicas: 1/replicas: 2/"' },
      stdout: 'Scale2',
    }),
    r('edit', 'deploy web --subresource=status --windows-line-endings -o jsonpath={.status.replicas}', {
      environment: { EDITOR: 'sed -i "s/^  replicas: 7\r$/  replicas: 8\r/"' },
      stdout: '8',
    }),
    r('replace', '-f -', {
      stdin: map('absent'),
      stderr: 'Error from server (NotFound): error when replacing "STDIN": configmaps "absent" not found\n',
      code: 1,
    }),
    r('replace', '-f -', { stdin: budget, stdout: 'poddisruptionbudget.policy/few replaced\n' }),
    r('history', 'cm one --limit=1 --no-headers', { stdout: /^\d+ +\S+Z +\S+admin +\S+ +update +\S+.*\n$/ }),
    r('history', 'deploy/web --no-headers', {
      stdout: /^(?!.*\.status\.).* created\n$/s,
      stderr: /^\d+ status changes are hidden\. Use --all to show them\.\n$/,
    }),
    r('history', 'deploy/web --no-headers --all', { stdout: /\.status\.replicas/, stderr: '' }),
    r('history', 'cm', { stderr: /specify one object/, code: 1 }),
    r('blame', 'cm/one', { stdout: /^REVISION +TIME +USER +MANAGER +FIELD\n(.*\n)*\d+ .*\.data\.name\n/ }),
    r('undo', 'cm/one --dry-run=server', { stdout: /^configmap\/one undone \(revision \d+\) \(server dry run\)\n$/ }),
    r('undo', 'cm/absent', { stderr: /^error: no change to configmaps "absent" to undo\n$/, code: 1 }),
    r('label', '-f - app=x --local -o jsonpath={.metadata.labels}', { stdin: map('none'), stdout: '{"app":"x"}' }),
    r('patch', `-f - --local --type=merge -p '{"data":{"z":"1"}}' -o jsonpath={.data.z}`, {
      stdin: map('none'),
      stdout: '1',
    }),
    r('label', 'cm one version=1 --resource-version=1', { stderr: /^Error from server \(Conflict\)/, code: 1 }),
    r('replace', '-f x.yaml --grace-period=1', {
      stderr: 'error: --grace-period must have --force specified\n',
      code: 1,
    }),
    r('replace', '-f x.yaml --timeout=1s', { stderr: 'error: --timeout must have --force specified\n', code: 1 }),
    r('label', 'cm one version- --resource-version=1', {
      stdout: 'label "version" not found.\n',
      stderr: /^Error from server \(Conflict\)/,
      code: 1,
    }),
    r('annotate', 'cm one seen=1 --record', { stdout: 'configmap/one annotated\n' }),
    r('get', 'cm one -o jsonpath={.metadata.annotations}', {
      stdout: /change-cause":"orchctl annotate cm one seen=1 --record/,
    }),
    r('scale', 'deploy web --replicas=3', { stdout: 'deployment.apps/web scaled\n' }),
    r('scale', 'deploy web --replicas=4 --resource-version=1', {
      stderr: /^error: Expected resource version to be 1, was \d+\n$/,
      code: 1,
    }),
    r('scale', 'deploy web --replicas=4 --current-replicas=9', {
      stderr: 'error: Expected replicas to be 9, was 3\n',
      code: 1,
    }),
    r('scale', 'cm one --replicas=1', {
      stderr: 'error: configmaps have no scale subresource\n',
      code: 1,
    }),
    r('edit', 'cm one', { environment: { EDITOR: 'sed -i s/new/edited/' }, stdout: 'configmap/one edited\n' }),
    r('edit', 'cm one', { environment: { EDITOR: 'true' }, stderr: 'Edit cancelled, no changes made.\n' }),
    r('edit', 'cm one', {
      environment: { EDITOR: 'false' },
      stderr: /^error: the editor "false" exited with code 1: nothing was changed\n$/,
      code: 1,
    }),
    r('edit', 'cm one', {
      environment: { EDITOR: 'sed -i "s/^data:/daata:/"' },
      stderr:
        /^Error from server \(Invalid\): .*unknown field "daata"[\s\S]*\nerror: edit cancelled, no valid changes were saved; your edits are in .*object\.yaml\n$/,
      code: 1,
    }),
    r('edit', 'cm one two', {
      environment: { EDITOR: 'sed -i -e "s/name: edited/name: listed/" -e "s/^    k: v/    k: listed/"' },
      stdout: 'configmap/one edited\nconfigmap/two edited\n',
    }),
    r('edit', 'cm', {
      environment: { EDITOR: 'sed -i "s/name: listed/name: all/"' },
      stdout: /^configmap\/one edited\n/,
    }),
    r('edit', 'cm/one cm/two', {
      environment: { EDITOR: 'sed -i -e "s/name: all/name: again/" -e "s/^    k: listed/    k: {}/"' },
      stdout: 'configmap/one edited\n',
      stderr:
        /^Error from server.*\n(.*\n)*error: edit cancelled, no valid changes were saved; your edits are in .*\n$/,
      code: 1,
    }),
    r('get', "cm one two -o 'jsonpath={.items[*].data}'", { stdout: '{"name":"again"} {"k":"listed"}' }),
    r('edit', 'cm/one cm/two', {
      environment: { EDITOR: 'sed -i "s/name: two/name: three/"' },
      stderr: /^error: kind, name and namespace of the object cannot be changed\n/,
      code: 1,
    }),
    r('edit', 'cm one --as=nobody-who-may-edit --as-group=system:masters', {
      environment: { EDITOR: 'sed -i "s/name: again/name: allowed/"' },
      stdout: 'configmap/one edited\n',
    }),
    r('edit', 'quota', { stderr: 'error: edit cancelled, no objects found\n', code: 1 }),
  ],
}
