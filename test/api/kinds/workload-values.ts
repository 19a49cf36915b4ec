/** Valid values for random objects of the kinds that create pods from a template, and of PodDisruptionBudgets. */
import type { JsonObject } from '../../../src/api/json/json.ts'
import { none, oneOf } from './makers.ts'
import type { MakeField, Making, ValidValues } from './random-object.ts'

type Agree = ValidValues['agree'][string]

const count: MakeField = ({ below }) => below(50)

/** Makes the selector match the template, and makes shared disks read-only. Returns the pod spec of the template. */
function fit(spec: JsonObject, { pick }: Making): JsonObject {
  const template = spec.template as JsonObject & { spec: JsonObject }
  template.metadata = { labels: { app: 'a', tier: pick(['b', '']) }, annotations: { note: 'x' } }
  spec.selector = pick<JsonObject>([
    { matchLabels: { app: 'a' } },
    { matchLabels: { app: 'a' }, matchExpressions: [{ key: 'tier', operator: 'Exists' }] },
  ])
  for (const { gcePersistentDisk: disk } of (template.spec.volumes ?? []) as JsonObject[])
    if (disk !== undefined) Object.assign(disk as JsonObject, { readOnly: true })
  return template.spec
}

const runsForever: Agree = (spec, making) => {
  const pods = fit(spec, making)
  pods.restartPolicy = 'Always'
  delete pods.activeDeadlineSeconds
}

const ends: Agree = (spec, making) => {
  fit(spec, making).restartPolicy = making.pick(['Never', 'OnFailure'])
  spec.manualSelector = true
  if (spec.completionMode === 'Indexed') spec.completions = 5
}

/** Sets the counts in descending order, because no count may exceed the previous count. */
const replicas =
  (...names: readonly string[]): Agree =>
  (status) =>
    names.forEach((name, i) => {
      status[name] = names.length + 1 - i
    })

const fields: ValidValues['fields'] = {
  'DeploymentSpec.replicas': count,
  'DeploymentSpec.minReadySeconds': count,
  'DeploymentSpec.progressDeadlineSeconds': oneOf(51, 600),
  'RollingUpdateDeployment.maxUnavailable': oneOf(1, '10%', '100%'),
  'RollingUpdateDeployment.maxSurge': oneOf(0, '0%', '200%'),
  'DaemonSetSpec.minReadySeconds': count,
  'StatefulSetSpec.podManagementPolicy': oneOf('OrderedReady', 'Parallel'),
  'StatefulSetSpec.persistentVolumeClaimRetentionPolicy': none,
  'PersistentVolumeClaim.apiVersion': oneOf('v1'),
  'PersistentVolumeClaim.kind': oneOf('PersistentVolumeClaim'),
  'JobSpec.completionMode': oneOf('Indexed', 'NonIndexed'),
  'CronJobSpec.schedule': oneOf('*/5 * * * *', '@daily', '0 0 1,15 jan-mar mon/2', 'CRON_TZ=Europe/Berlin 1 2 3 4 5'),
  'CronJobSpec.concurrencyPolicy': oneOf('Allow', 'Forbid', 'Replace'),
  'PodDisruptionBudgetSpec.minAvailable': oneOf(0, 1, '0%', '100%'),
  'PodDisruptionBudgetSpec.maxUnavailable': oneOf(0, 1, '0%', '100%'),
  'Condition.type': ({ count }) => `example.com/Odd${count()}`,
  'Condition.status': oneOf('True', 'False', 'Unknown'),
  'Condition.lastTransitionTime': oneOf('2030-01-02T03:04:05Z'),
  'Condition.reason': oneOf('Reason', 'a_b,c:d'),
  'PodSecurityPolicySpec.volumes': oneOf(['*'], ['csi', 'hostPath']),
  'PodSecurityPolicySpec.requiredDropCapabilities': oneOf(['ALL'], ['KILL', 'CHOWN']),
  'PodSecurityPolicySpec.allowPrivilegeEscalation': oneOf(true),
  'PodSecurityPolicySpec.allowedUnsafeSysctls': oneOf(['kernel.msg*'], ['net.core.a', 'net.core.b']),
  'PodSecurityPolicySpec.forbiddenSysctls': oneOf(['kernel.shm*'], ['fs.x']),
  'PodSecurityPolicySpec.allowedProcMountTypes': none,
  'SELinuxStrategyOptions.rule': oneOf('MustRunAs', 'RunAsAny'),
  'RunAsUserStrategyOptions.rule': oneOf('MustRunAs', 'MustRunAsNonRoot', 'RunAsAny'),
  'RunAsGroupStrategyOptions.rule': oneOf('MustRunAs', 'MayRunAs'),
  'RunAsGroupStrategyOptions.ranges': oneOf([{ min: 0, max: 0 }], [{ min: 1, max: 2 ** 40 }]),
  'SupplementalGroupsStrategyOptions.rule': oneOf('MustRunAs', 'MayRunAs', 'RunAsAny'),
  'FSGroupStrategyOptions.rule': oneOf('MustRunAs', 'MayRunAs', 'RunAsAny'),
  'IDRange.min': count,
  'IDRange.max': oneOf(50, 2 ** 40),
  'AllowedHostPath.pathPrefix': oneOf('/a', 'b/c'),
  'AllowedFlexVolume.driver': oneOf('d', 'a/b'),
  'AllowedCSIDriver.name': oneOf('csi.example.com', 'Upper.Case'),
  'RuntimeClassStrategyOptions.allowedRuntimeClassNames': oneOf(['a', 'b.c'], ['a']),
  'RuntimeClassStrategyOptions.defaultRuntimeClassName': oneOf('a'),
}

const agree: ValidValues['agree'] = {
  DeploymentSpec: runsForever,
  ReplicaSetSpec: runsForever,
  StatefulSetSpec: runsForever,
  DaemonSetSpec: runsForever,
  JobSpec: ends,
  /** A Job template must not have a selector, because the server generates one for each Job. */
  JobTemplateSpec: ({ spec }) => {
    delete (spec as JsonObject).selector
    delete (spec as JsonObject).manualSelector
  },
  DeploymentStrategy: (strategy, { pick }) => {
    strategy.type = pick(['Recreate', 'RollingUpdate'])
    if (strategy.type === 'Recreate') delete strategy.rollingUpdate
  },
  StatefulSetUpdateStrategy: (strategy, { pick }) => {
    strategy.type = pick(['OnDelete', 'RollingUpdate'])
    if (strategy.type === 'OnDelete') delete strategy.rollingUpdate
  },
  DaemonSetUpdateStrategy: (strategy, { pick }) => {
    strategy.type = pick(['OnDelete', 'RollingUpdate'])
    if (strategy.rollingUpdate !== undefined)
      strategy.rollingUpdate = pick<JsonObject>([
        { maxUnavailable: 1, maxSurge: 0 },
        { maxUnavailable: '0%', maxSurge: '100%' },
      ])
  },
  DeploymentStatus: replicas('replicas', 'updatedReplicas', 'readyReplicas', 'availableReplicas'),
  ReplicaSetStatus: replicas('replicas', 'fullyLabeledReplicas', 'readyReplicas', 'availableReplicas'),
  StatefulSetStatus: replicas('replicas', 'currentReplicas', 'updatedReplicas', 'readyReplicas', 'availableReplicas'),
  UncountedTerminatedPods: (pods) => Object.assign(pods, { succeeded: ['a', 'b'], failed: ['c'] }),
  PodDisruptionBudgetSpec: (spec, { chance }) => {
    delete spec[chance(0.5) ? 'minAvailable' : 'maxUnavailable']
  },
}

const needed: readonly string[] = [
  ...['Deployment', 'ReplicaSet', 'StatefulSet', 'DaemonSet', 'Job', 'CronJob'].map((kind) => `${kind}.spec`),
  ...['Deployment', 'ReplicaSet', 'StatefulSet', 'DaemonSet', 'Job'].map((kind) => `${kind}Spec.template`),
  ...['Deployment', 'ReplicaSet', 'StatefulSet', 'DaemonSet', 'Job'].map((kind) => `${kind}Status.conditions`),
  ...['active', 'lastScheduleTime', 'lastSuccessfulTime'].map((name) => `CronJobStatus.${name}`),
  'JobStatus.uncountedTerminatedPods',
  'CronJobSpec.jobTemplate',
  'JobTemplateSpec.spec',
  'PodDisruptionBudget.spec',
  'PodSecurityPolicy.spec',
  ...['seLinux', 'runAsUser', 'supplementalGroups', 'fsGroup'].map((name) => `PodSecurityPolicySpec.${name}`),
  'ControllerRevision.data',
]

export const workloadValues = { fields, needed, agree }
