/** Test rows for node commands: taints, cordon and drain. */
import { type Part, r } from './row.ts'

const node = 'apiVersion: v1\nkind: Node\nmetadata: {name: drained, labels: {rows: nodes}}\n'
const lost = 'apiVersion: v1\nkind: Node\nmetadata: {name: lost}\n'
const pod = (name: string, more = '') => `apiVersion: v1
kind: Pod
metadata: {name: ${name}, labels: {rows: nodes}}
spec:
  nodeName: drained
  containers: [{name: a, image: x}]
${more}`

/** A pod that cannot be removed because it has a finalizer. */
const stuck = pod('stuck').replace('labels:', 'finalizers: [example.com/kept], labels:').replace('drained', 'lost')

export const nodes: Part = {
  name: 'nodes',
  given: [node, pod('alone'), lost, stuck, pod('full', '  volumes: [{name: v, emptyDir: {}}]\n')].join('---\n'),
  rows: [
    r('taint', 'node drained a=b:NoSchedule c:NoExecute', { stdout: 'node/drained tainted\n' }),
    r('taint', 'node drained a=c:NoSchedule', {
      stderr: 'error: node drained already has a taint(s) with same effect(s) and --overwrite is false\n',
      code: 1,
    }),
    r('taint', 'nodes -l rows=nodes a=c:NoSchedule --overwrite', { stdout: 'node/drained modified\n' }),
    r('taint', 'node drained a:NoSchedule- c-', { stdout: 'node/drained untainted\n' }),
    r('taint', 'node drained c-', { stderr: 'error: taint "c" not found\n', code: 1 }),
    r('taint', 'node drained a=b:Never', {
      stderr: 'error: invalid taint effect: Never; use one of NoSchedule, PreferNoSchedule, NoExecute\n',
      code: 1,
    }),
    r('taint', 'pod alone a=b:NoSchedule', {
      stderr: 'error: invalid resource type pod, only node types are supported\n',
      code: 1,
    }),
    r('cordon', 'drained', { stdout: 'node/drained cordoned\n' }),
    r('cordon', '-l rows=nodes', { stdout: 'node/drained already cordoned\n' }),
    r('uncordon', 'drained', { stdout: 'node/drained uncordoned\n' }),
    r('uncordon', 'drained', { stdout: 'node/drained already uncordoned\n' }),
    r('cordon', '', {
      stderr: 'error: USAGE: cordon NODE [flags]: specify a node, or select nodes with -l\n',
      code: 1,
    }),
    r('drain', 'drained', {
      stdout: 'node/drained cordoned\n',
      stderr:
        /^error: unable to drain node "drained": cannot delete Pods not managed .*: default\/alone, default\/full\n$/,
      code: 1,
    }),
    r('drain', 'drained --force', {
      stdout: 'node/drained already cordoned\n',
      stderr: /cannot delete Pods with local storage \(use --delete-emptydir-data to override\): default\/full\n$/,
      code: 1,
    }),
    r('drain', 'drained --force --delete-emptydir-data --dry-run=client', {
      stdout:
        'node/drained already cordoned (dry run)\nevicting pod default/alone (dry run)\nevicting pod default/full (dry run)\nnode/drained drained (dry run)\n',
      stderr: /^WARNING: deleting Pods not managed by /,
    }),
    r('patch', `pod alone --subresource=status -p '{"status":{"phase":"Running"}}'`, { stdout: 'pod/alone patched\n' }),
    r('create poddisruptionbudget', 'kept --selector=rows=nodes --min-available=9', {
      stdout: 'poddisruptionbudget.policy/kept created\n',
    }),
    r('drain', 'drained --force --delete-emptydir-data --timeout=1s --pod-selector=rows=nodes', {
      stdout: /^node\/drained already cordoned\nevicting pod default\/alone\n/,
      stderr:
        /\nError from server \(TooManyRequests\): error when evicting pods\/"alone" -n "default" \(the timeout is reached\): /,
      code: 1,
    }),
    r('delete', 'pdb kept', { stdout: 'poddisruptionbudget.policy "kept" deleted\n' }),
    r('drain', 'drained --force --delete-emptydir-data --grace-period=0', {
      stdout:
        'node/drained already cordoned\nevicting pod default/alone\nevicting pod default/full\npod/alone evicted\npod/full evicted\nnode/drained drained\n',
      stderr: /^WARNING: deleting Pods not managed by /,
    }),
    r('delete', 'pod stuck --wait=false --grace-period=0 --force', {
      stdout: 'pod "stuck" force deleted\n',
      stderr: /^warning: Immediate deletion does not wait/,
    }),
    r('drain', 'lost --force --timeout=1100ms', {
      stdout: 'node/lost cordoned\nevicting pod default/stuck\n',
      stderr: /timed out waiting for the condition on pods\/stuck\n$/,
      code: 1,
    }),
    r('drain', 'lost --force --skip-wait-for-delete-timeout=1', {
      stdout: 'node/lost already cordoned\nnode/lost drained\n',
    }),
    r('drain', 'absent', { stderr: 'Error from server (NotFound): nodes "absent" not found\n', code: 1 }),
    r('simulate node', 'lost down', { stdout: 'node/lost simulates down\n' }),
    r('simulate node', 'lost recover', { stdout: 'node/lost recovers\n' }),
    r('simulate node', 'lost recover', { stdout: 'node/lost has no simulated failure from this command\n' }),
    r('simulate node', 'absent down', { stderr: /nodes "absent" not found/, code: 1 }),
    r('simulate node', 'lost explode', {
      stderr: 'error: "explode" is not one of down, partition, disk-pressure, recover\n',
      code: 1,
    }),
    r('simulate pod', 'stuck crash-loop --delay=5s', { stdout: 'pod/stuck simulates crash-loop\n' }),
    r('simulate pod', 'stuck oom --delay=soon', {
      stderr: 'error: --delay: "soon" is not a duration: use a duration such as 30s or 2m\n',
      code: 1,
    }),
  ],
}
