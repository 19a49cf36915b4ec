/**
 * Test rows for container commands, on a pod without a node. `streaming.test.ts` covers commands that connect to a
 * node.
 */
import { type Part, r } from './row.ts'

const pod = `apiVersion: v1
kind: Pod
metadata: {name: idle}
spec:
  containers: [{name: a, image: x}, {name: b, image: x}]
`

const begun = `apiVersion: v1
kind: Pod
metadata: {name: begun}
spec:
  initContainers: [{name: first, image: x}]
  containers: [{name: then, image: x}]
`

const empty = `apiVersion: apps/v1
kind: ReplicaSet
metadata: {name: empty}
spec: {replicas: 0, selector: {matchLabels: {app: empty}}, template: {metadata: {labels: {app: empty}}, spec: {containers: [{name: a, image: x}]}}}
`

export const pods: Part = {
  name: 'pods',
  given: `${pod}---\n${empty}---\n${begun}`,
  rows: [
    r('logs', 'idle a'),
    r('logs', 'idle', { stderr: 'Defaulted container "a" out of: a, b\n' }),
    r('logs', 'idle -c c', { stderr: 'error: container c not found in pod idle; its containers are: a, b\n', code: 1 }),
    r('logs', 'begun --all-containers -v=6', { stderr: /container=first[\s\S]*container=then/ }),
    r('logs', 'begun -c nope', {
      stderr: 'error: container nope not found in pod begun; its containers are: then, first (init)\n',
      code: 1,
    }),
    r('logs', 'idle a --limit-bytes=-1', { stderr: 'error: --limit-bytes must be greater than 0\n', code: 1 }),
    r('logs', 'idle a --since=5x', {
      stderr: 'error: --since: "5x" is not a valid duration: use a duration such as 5s or 1m30s\n',
      code: 1,
    }),
    r('logs', 'idle a --since-time=yesterday', {
      stderr: 'error: --since-time: "yesterday" is not a valid time: use a time such as TIME\n',
      code: 1,
    }),
    r('logs', '', { stderr: 'error: expected POD or TYPE/NAME, or a selector (-l)\n', code: 1 }),
    r('logs', 'svc/none --pod-running-timeout=1ms', { stderr: /services "none" not found/, code: 1 }),
    r('logs', 'rs/empty --pod-running-timeout=1ms', { stderr: 'error: rs/empty has no pods\n', code: 1 }),
    r('logs', '-l app=none', { stderr: 'No resources found in default namespace.\n' }),
    r('exec', 'idle -c a -- date', { stderr: /^Error from server/, code: 1 }),
    r('exec', 'idle', { stderr: 'error: you must specify at least one command for the container\n', code: 1 }),
    r('attach', 'nothing', { stderr: 'Error from server (NotFound): pods "nothing" not found\n', code: 1 }),
    r('cp', 'a b', {
      stderr: 'error: either the source or the destination must be POD:PATH, and the other a local path\n',
      code: 1,
    }),
    r('port-forward', 'idle 80', {
      stderr: 'error: unable to forward port because pod is not running. Current status=Pending\n',
      code: 1,
    }),
    r('debug', 'idle --image=busybox -c look --target=a -- sh'),
    r(
      'get',
      'pod idle -o jsonpath={.spec.ephemeralContainers[0].name}{.spec.ephemeralContainers[0].targetContainerName}',
      {
        stdout: 'looka',
      },
    ),
    r('debug', 'idle --image=busybox --copy-to=copied -c look', { stdout: 'pod/copied created\n' }),
    r('get', 'pod copied -o jsonpath={.spec.containers[*].name}', { stdout: 'a b look' }),
    r('debug', 'idle --image=busybox --copy-to=changed -c a -it --attach=false -- sleep 1', {
      stdout: 'pod/changed created\n',
    }),
    r(
      'get',
      'pod changed -o jsonpath={.spec.containers[*].name}{.spec.containers[0].image}{.spec.containers[0].command}',
      {
        stdout: 'a bbusybox["sleep","1"]',
      },
    ),
    r('logs', 'idle', { stderr: 'Defaulted container "a" out of: a, b, look (ephem)\n' }),
    r('debug', 'idle', { stderr: 'error: you must specify --image or --set-image\n', code: 1 }),
    r('debug', 'idle --copy-to=other --set-image=*=busybox -i', {
      stderr: 'error: -i and --attach require --image, the image of the new container\n',
      code: 1,
    }),
    r('debug', 'node/none --image=busybox --copy-to=x', {
      stderr: 'error: --copy-to and --target can only be used with pods\n',
      code: 1,
    }),
    r('debug', 'idle --image=busybox -c look2 --env=A', {
      stderr: 'error: --env: "A" must have the form NAME=VALUE\n',
      code: 1,
    }),
    r('top pods', '', { stderr: /^error: Metrics API not available: /, code: 1 }),
    r('top pods', 'idle', { stderr: /^error: Metrics API not available: /, code: 1 }),
    r('top nodes', '', { stderr: /^error: Metrics API not available: /, code: 1 }),
    r('top server', '--interval=1ms', {
      stdout:
        /^SERVER +VALUE\nRequests in flight +\d+\nActive watches +\d+\nRequests per second +[\d.]+\n[\s\S]*\nTYPE +OBJECTS\n/,
    }),
    r('proxy', '--www=nowhere', { stderr: 'error: --www: cannot read DIR/nowhere: ENOENT\n', code: 1 }),
    r('proxy', '--keepalive=5s', {
      stderr: /^error: --keepalive: the keep-alive period for server connections is not configurable/,
      code: 1,
    }),
    r('proxy', '--port=x', { stderr: 'error: --port: "x" is not a port\n', code: 1 }),
  ],
}
