/**
 * Compares a stored object with the object that was sent. Reports values that were lost or changed, and added values
 * that are not defaults.
 */
import { isObject, type Json, type JsonObject, own, sameJson } from '../../../src/api/json/json.ts'
import type { Field, ObjectSchema, Schema } from '../../../src/api/schema/schema.ts'
import { typeName } from './fields-of.ts'

/** Fields that the server sets or fills with defaults, keyed by type. */
const filled = new Set(
  [
    'ObjectMeta: uid resourceVersion creationTimestamp managedFields namespace generation annotations labels',
    'Secret: type',
    'NamespaceSpec: finalizers',
    'Namespace: spec',
    'CertificateSigningRequestSpec: username uid groups extra',
    'CertificateSigningRequestCondition: lastUpdateTime lastTransitionTime',
    'NamespaceStatus: phase',
    'PodSpec: restartPolicy terminationGracePeriodSeconds dnsPolicy securityContext schedulerName enableServiceLinks',
    'Container: imagePullPolicy terminationMessagePath terminationMessagePolicy',
    'ContainerPort: protocol hostPort',
    'ResourceRequirements: requests',
    'Probe: timeoutSeconds periodSeconds successThreshold failureThreshold',
    'HTTPGetAction: path scheme',
    'GRPCAction: service',
    'PodStatus: podIP',
    'Volume: emptyDir',
    'PersistentVolumeClaimSpec: volumeMode',
    'SecretVolumeSource: defaultMode',
    'ConfigMapVolumeSource: defaultMode',
    'DownwardAPIVolumeSource: defaultMode',
    'ProjectedVolumeSource: defaultMode',
    'ServiceAccountTokenProjection: expirationSeconds',
    'HostPathVolumeSource: type',
    'RBDVolumeSource: pool user keyring',
    'RBDPersistentVolumeSource: pool user keyring',
    'ISCSIVolumeSource: iscsiInterface',
    'ISCSIPersistentVolumeSource: iscsiInterface',
    'AzureDiskVolumeSource: cachingMode fsType readOnly kind',
    'ScaleIOVolumeSource: storageMode fsType',
    'ScaleIOPersistentVolumeSource: storageMode fsType',
    'PersistentVolumeSpec: persistentVolumeReclaimPolicy volumeMode',
    'PersistentVolumeStatus: phase',
    'PersistentVolumeClaimStatus: phase',
    'EndpointPort: protocol',
    'LimitRangeItem: default defaultRequest',
    'NodeSpec: podCIDR podCIDRs',
    'NodeStatus: allocatable',
    'HorizontalPodAutoscalerSpec: minReplicas metrics targetCPUUtilizationPercentage',
    'HorizontalPodAutoscalerBehavior: scaleUp scaleDown',
    'MetricValueStatus: value averageValue',
    ...['Object', 'Pods', 'Resource', 'ContainerResource', 'External'].map(
      (source) => `${source}MetricStatus: current`,
    ),
    'StorageClass: reclaimPolicy volumeBindingMode',
    'CSIDriverSpec: attachRequired podInfoOnMount volumeLifecycleModes storageCapacity fsGroupPolicy requiresRepublish',
    'PriorityClass: preemptionPolicy',
    'ServicePort: protocol targetPort nodePort',
    'ServiceSpec: type clusterIP clusterIPs ipFamilies ipFamilyPolicy sessionAffinity sessionAffinityConfig',
    'ServiceSpec: externalTrafficPolicy internalTrafficPolicy healthCheckNodePort allocateLoadBalancerNodePorts',
    'ClientIPConfig: timeoutSeconds',
    'SessionAffinityConfig: clientIP',
    'CustomResourceDefinitionSpec: conversion',
    'CustomResourceDefinitionNames: singular listKind',
    'DeploymentSpec: replicas strategy revisionHistoryLimit progressDeadlineSeconds',
    'DeploymentStrategy: type rollingUpdate',
    'RollingUpdateDeployment: maxUnavailable maxSurge',
    'ReplicaSetSpec: replicas',
    'StatefulSetSpec: replicas podManagementPolicy updateStrategy revisionHistoryLimit',
    'StatefulSetUpdateStrategy: type rollingUpdate',
    'RollingUpdateStatefulSetStrategy: partition',
    'PersistentVolumeClaim: apiVersion kind status',
    'DaemonSetSpec: updateStrategy revisionHistoryLimit',
    'DaemonSetUpdateStrategy: type rollingUpdate',
    'RollingUpdateDaemonSet: maxUnavailable maxSurge',
    'JobSpec: parallelism completions backoffLimit completionMode suspend',
    'PodSecurityPolicySpec: allowPrivilegeEscalation',
    'CronJobSpec: concurrencyPolicy suspend successfulJobsHistoryLimit failedJobsHistoryLimit',
    'IngressClassParametersReference: scope',
    'NetworkPolicyPort: protocol',
    'NetworkPolicySpec: policyTypes',
    'Endpoint: topology',
    'EndpointPort: name protocol',
    'RoleRef: apiGroup',
    'Subject: apiGroup',
    'RuleWithOperations: scope',
    'FlowSchemaSpec: matchingPrecedence',
    'LimitedPriorityLevelConfiguration: assuredConcurrencyShares',
    'QueuingConfiguration: queues handSize queueLengthLimit',
    'ServiceReference: port',
    'MutatingWebhook: failurePolicy matchPolicy timeoutSeconds reinvocationPolicy namespaceSelector objectSelector',
    'ValidatingWebhook: failurePolicy matchPolicy timeoutSeconds namespaceSelector objectSelector',
  ].flatMap((line) => {
    const [type, fields] = line.split(': ')
    return fields!.split(' ').map((name) => `${type}.${name}`)
  }),
)

export function differences(schema: Schema, sent: Json, stored: Json, path = ''): string[] {
  if (schema.type === 'object' && isObject(sent) && isObject(stored)) return ofObjects(schema, sent, stored, path)
  if (schema.type === 'list' && Array.isArray(sent) && Array.isArray(stored) && sent.length === stored.length)
    return sent.flatMap((item, i) => differences(schema.items, item, stored[i]!, `${path}[${i}]`))
  if (sameJson(sent, stored)) return []
  return [`${path}: sent ${JSON.stringify(sent)}, stored ${JSON.stringify(stored)}`]
}

function ofObjects(schema: ObjectSchema, sent: JsonObject, stored: JsonObject, path: string): string[] {
  const type = typeName(schema)
  const names = new Set([...Object.keys(sent), ...Object.keys(stored)])
  return [...names].flatMap((name) => {
    const field = schema.fields[name]
    const given = own(sent, name) ?? null
    const kept = own(stored, name) ?? null
    const place = `${path}.${name}`
    if (field === undefined) return [`${place}: not of ${type}`]
    const isFilled = filled.has(`${type}.${name}`)
    if (isUnsent(given, field))
      return kept === null || isFilled || isWrittenZero(kept, field)
        ? []
        : [`${place}: not sent, stored ${JSON.stringify(kept)}`]
    if (kept === null) return [`${place}: sent ${JSON.stringify(given)}, not stored`]
    const isAddedTo = isFilled && field.schema.type !== 'object'
    return isAddedTo ? withMore(given, kept, place) : differences(field.schema, given, kept, place)
  })
}

/** Whether a value counts as unset: null, or a zero value that the encoder omits from the field. */
function isUnsent(value: Json, { zeroValue: zero }: Field): boolean {
  return value === null || (zero === 'omit' && isZero(value))
}

function isZero(value: Json): boolean {
  if (typeof value === 'object' && value !== null) return Object.keys(value).length === 0
  return value === '' || value === 0 || value === false
}

/**
 * Whether an added value is the zero value of a field that is always written. An object counts as zero if all its
 * members are zero.
 */
function isWrittenZero(value: Json, { zeroValue: zero }: Field): boolean {
  const isNothing = (item: Json): boolean =>
    isZero(item) || item === null || (isObject(item) && Object.values(item).every((part) => isNothing(part!)))
  return zero === 'write' && (isNothing(value) || value === '0')
}

/**
 * Returns the difference, or an empty list if the stored value contains everything that was sent. The server may have
 * added members or elements.
 */
function withMore(given: Json, kept: Json, path: string): string[] {
  const isThere =
    isObject(given) && isObject(kept)
      ? Object.entries(given).every(([key, value]) => sameJson(value!, own(kept, key)))
      : Array.isArray(given) && Array.isArray(kept)
        ? given.every((item) => kept.some((other) => sameJson(item, other)))
        : sameJson(given, kept)
  return isThere ? [] : [`${path}: sent ${JSON.stringify(given)}, stored ${JSON.stringify(kept)}`]
}
