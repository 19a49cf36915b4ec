/** Test rows for rollout commands and for `orchctl set`. */
import { map, type Part, r, web } from './row.ts'

const service =
  'apiVersion: v1\nkind: Service\nmetadata: {name: web}\nspec: {selector: {app: x}, ports: [{port: 80}]}\n'
const binding = `apiVersion: rbac.authorization.k8s.io/v1
kind: RoleBinding
metadata: {name: readers}
roleRef: {apiGroup: rbac.authorization.k8s.io, kind: ClusterRole, name: view}
`

export const rolling: Part = {
  name: 'rolling',
  given: [map('one'), web, service, binding].join('---\n'),
  rows: [
    r('rollout history', 'deploy/web', { stdout: 'deployment.apps/web \nNo rollout history found.\n' }),
    r('rollout history', 'deploy/web -o name'),
    r('rollout history', 'deploy/web --revision=3 -o yaml', {
      stderr: 'error: unable to find the specified revision\n',
      code: 1,
    }),
    r('rollout status', 'deploy/web --watch=false', {
      stdout: 'Waiting for deployment spec update to be observed...\n',
    }),
    r('rollout status', 'deploy/web --timeout=1ms', {
      stdout: /^(?:Waiting for deployment spec update to be observed...\n)?$/,
      stderr: 'error: timed out waiting for the condition on deployments.apps/web\n',
      code: 1,
    }),
    r('rollout status', 'cm/one', {
      stderr: 'error: no status viewer has been implemented for ConfigMap\n',
      code: 1,
    }),
    r('rollout undo', 'deploy/web', {
      stderr: 'error: no rollout history found for deployment/web: there is no earlier revision\n',
      code: 1,
    }),
    r('rollout pause', 'deploy/web', { stdout: 'deployment.apps/web paused\n' }),
    r('rollout pause', 'deploy/web', { stderr: 'error: deployments.apps "web" is already paused\n', code: 1 }),
    r('rollout restart', 'deploy/web', {
      stderr: `error: deployments.apps "web" can't restart paused deployment (run rollout resume first)\n`,
      code: 1,
    }),
    r('rollout resume', 'deploy web', { stdout: 'deployment.apps/web resumed\n' }),
    r('rollout restart', 'deploy', { stdout: 'deployment.apps/web restarted\n' }),
    r('rollout restart', 'cm/one', { stderr: 'error: configmaps "one" restarting is not supported\n', code: 1 }),
    r('set image', 'deploy/web a=nginx:2', { stdout: 'deployment.apps/web image updated\n' }),
    r('set image', 'deploy/web a=nginx:2'),
    r('set image', 'deploy/web b=x', { stderr: 'error: unable to find container named "b"; web has: a\n', code: 1 }),
    r('set image', "-f web.yaml '*=c' --local -o jsonpath={.spec.template.spec.containers[*].image}", {
      files: { 'web.yaml': web },
      stdout: 'c',
    }),
    r('set env', 'deploy/web X- Y=3', { stdout: 'deployment.apps/web env updated\n' }),
    r('set env', 'deploy/web --from=cm/one --prefix=P_', { stdout: 'deployment.apps/web env updated\n' }),
    r('set env', 'deploy/web --list', {
      stdout: '# Deployment web, container a\nZ=2\nY=3\n# P_K from configmap one, key k\n',
    }),
    r('set env', 'deploy/web --list -o name', { stderr: /^error: --list and --output may not/, code: 1 }),
    r('set env', 'deploy/web --list --resolve', { stdout: '# Deployment web, container a\nZ=2\nY=3\nP_K=v\n' }),
    r('set env', 'deploy/web Z=9 --overwrite=false', {
      stderr: "error: Deployment/web 'Z' already has a value (2), and --overwrite is false\n",
      code: 1,
    }),
    r('set env', 'deploy/web -e - -o jsonpath={.spec.template.spec.containers[0].env[0]}', {
      stdin: '# read\nZ=4\n',
      stdout: '{"name":"Z","value":"4"}',
    }),
    r('set env', 'deploy/web -c nope A=b', {
      stderr: 'warning: Deployment/web does not have any containers matching "nope"; it has: a\n',
    }),
    r('set resources', 'deploy/web -c nope --limits=cpu=1', {
      stderr: 'error: Deployment/web does not have any containers matching "nope"; it has: a\n',
      code: 1,
    }),
    r('set env', 'cm/one A=b', { stderr: 'error: ConfigMap "one" has no containers\n', code: 1 }),
    r('set resources', 'deploy/web --limits=cpu=1,memory=1Gi', {
      stdout: 'deployment.apps/web resource requirements updated\n',
    }),
    r(
      'set resources',
      'deploy/web --limits=cpu=2 --requests=cpu=1 -o jsonpath={.spec.template.spec.containers[0].resources}',
      { stdout: '{"limits":{"cpu":"2","memory":"1Gi"},"requests":{"cpu":"1"}}' },
    ),
    r('set resources', 'deploy/web --limits=cpu=much', {
      stderr: 'error: --limits: "much" is not a valid quantity for cpu, such as 200m or 512Mi\n',
      code: 1,
    }),
    r('set serviceaccount', 'deploy web robot', { stdout: 'deployment.apps/web serviceaccount updated\n' }),
    r('set selector', 'svc web app=web,tier=front', { stdout: 'service/web selector updated\n' }),
    r('set selector', 'deploy web app=web', {
      stderr: 'error: setting a selector is only supported for Services\n',
      code: 1,
    }),
    r('set subject', 'rolebinding readers --user=alice --serviceaccount=a:b', {
      stdout: 'rolebinding.rbac.authorization.k8s.io/readers subjects updated\n',
    }),
    r('set subject', 'rolebinding readers --user=alice'),
    r('set subject', 'rolebinding readers', {
      stderr: 'error: you must specify at least one value of user, group or serviceaccount\n',
      code: 1,
    }),
  ],
}
