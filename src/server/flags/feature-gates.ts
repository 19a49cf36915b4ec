/**
 * `--feature-gates`: pairs such as `APIListChunking=false` for the gates of the emulated version. AllAlpha and AllBeta
 * set all gates of a stage.
 *
 * A gate can be changed only if it has an effect, that is, if this file lists it or a definition specifies it as its
 * `gate`. All other gates, including those of alpha features, are accepted only in the state that matches the server's
 * behavior.
 */
import { type Availability, gateNames } from '../../api/versions/availability.ts'
import type { EmulatedVersion } from '../../api/versions/emulated-version.ts'
import {
  defaultGatesOf,
  type FeatureGate,
  type Gates,
  gateState,
  gatesIn,
  isFeatureGate,
} from '../../api/versions/feature-gates.ts'
import { closestMatch, UsageError } from '../../base/flags/flags.ts'

/** Feature gates with their requested state, in the order of the flag. */
export type FeatureGatePairs = ReadonlyMap<string, boolean>

/**
 * Gates that this server's code checks, with the effect of enabling each of them. Gates that control fields are
 * declared with these fields instead.
 */
const actedOn: { readonly [name in FeatureGate]?: string } = {
  APIListChunking: 'clients can request lists in pages with limit and continue',
  APIServerIdentity: 'every API server renews a Lease that identifies it',
  AggregatedDiscoveryEndpoint: 'clients can request all groups and resource types in one discovery document',
  AggregatedDiscoveryRemoveBetaType: 'the server does not serve the v2beta1 format of that document',
  AllowParsingUserUIDFromCertAuth: 'the subject of a client certificate can contain the UID of the user',
  AllowServiceLBStatusOnNonLB: 'the status of a Service of any type can contain load balancer addresses',
  AnyVolumeDataSource: 'PersistentVolumeClaims can be populated from objects of any kind',
  AuthorizeNodeWithSelectors: 'a node agent reads only its own Node and the pods on it',
  AuthorizeWithSelectors: 'authorizers see the field and label selectors of a request',
  ClearingNominatedNodeNameAfterBinding: 'a binding clears the nominated node of the pod',
  ComponentFlagz: 'the server shows its flags at /flagz',
  ComponentStatusz: 'the server shows its state at /statusz',
  ConstrainedImpersonation: 'permissions to impersonate can be limited to certain actions',
  CRDValidationRatcheting: 'an update does not validate unchanged parts of a custom resource again',
  ContainerRestartRules: 'containers can have their own restart policy',
  CronJobsScheduledAnnotation: 'the Jobs of a CronJob have their scheduled time as an annotation',
  CrossNamespaceVolumeDataSource: 'a PersistentVolumeClaim can be populated from an object in another namespace',
  CustomResourceValidationExpressions: 'the server enforces CEL rules in custom resource schemas',
  DefaultHostNetworkHostPortsInPodTemplates: 'pod templates on the host network get host ports',
  ElasticIndexedJob: 'the completions of an Indexed Job can change together with its parallelism',
  KubeletServiceAccountTokenForCredentialProviders: 'a node agent reads the service accounts of the pods on it',
  ExpandedDNSConfig: 'pods can have more and longer DNS search domains',
  HPAScaleToZero: 'a HorizontalPodAutoscaler with an Object or External metric can scale to zero replicas',
  InPlacePodVerticalScalingInitContainers: 'the resources of init containers can change in a running pod',
  JobReadyPods: 'the status of a Job counts its ready pods',
  JobTrackingWithFinalizers: 'Jobs track their pods with finalizers',
  LegacyServiceAccountTokenCleanUp: 'unused tokens in Secrets are marked as invalid and deleted',
  MatchLabelKeysInPodTopologySpreadSelectorMerge:
    'the server adds the values of matchLabelKeys to the selectors of topology spread constraints',
  MultiCIDRServiceAllocator: 'cluster IPs come from ServiceCIDRs, and each has an IPAddress',
  MixedProtocolLBService: 'a load balancer can have ports of several protocols',
  MutablePVNodeAffinity: 'the node affinity of a PersistentVolume can change',
  MutablePodResourcesForSuspendedJobs: 'the resources in the pod template of a suspended Job can change',
  MutableSchedulingDirectivesForSuspendedJobs:
    'the scheduling directives in the pod template of a suspended Job can change even after the Job has started',
  PortForwardWebsockets: 'clients can tunnel port-forward through a WebSocket',
  PodDisruptionConditions: 'pods that the cluster ends have the condition DisruptionTarget',
  NodeOutOfServiceVolumeDetach: 'terminating pods are removed from nodes that are marked as out of service',
  PodIndexLabel: 'pods of StatefulSets and Indexed Jobs have a label with their index',
  PodLifecycleSleepActionAllowZero: 'a lifecycle hook can sleep for zero seconds',
  PodTopologyLabelsAdmission: 'pods get the topology labels of their node',
  ProcMountType: 'containers can choose how /proc is mounted',
  RecoverVolumeExpansionFailure: 'a PersistentVolumeClaim whose expansion failed can request less storage',
  ServiceAccountNodeAudienceRestriction: 'a node agent requests tokens only for audiences that its pods use',
  RelaxedDNSSearchValidation: 'DNS search domains can contain underscores',
  RelaxedEnvironmentVariableValidation: 'names of environment variables can contain almost all ASCII characters',
  RelaxedServiceNameValidation: 'the name of a Service can start with a digit',
  RestartAllContainersOnContainerExits: 'a restart rule of a container can restart all containers of the pod',
  RetroactiveDefaultStorageClass: 'a PersistentVolumeClaim without a class can get the default class later',
  SELinuxMount: 'pods can choose how the SELinux labels of volumes change',
  RemoteRequestHeaderUID: 'authenticating proxies send the UID of the user, and aggregated API servers receive it',
  ServiceAccountTokenJTI: 'service account tokens have an ID, which users of the token get as an extra attribute',
  ServiceAccountTokenNodeBinding: 'service account tokens can be bound to Nodes',
  ServiceAccountTokenPodNodeInfo: 'service account tokens of pods name the node',
  ServiceIPStaticSubrange: 'the first addresses of a range are assigned to Services last',
  ServiceNodePortStaticSubrange: 'the first ports of the range are assigned to Services last',
  StrictIPCIDRValidation: 'the server rejects IP addresses and CIDR ranges that are not in canonical form',
  StorageVersionMigrator: 'a control loop runs StorageVersionMigrations',
  TaintTolerationComparisonOperators: 'tolerations can compare the values of taints as integers',
  TokenRequestServiceAccountUIDValidation: 'a token request must name the UID of its account, if it names one',
  UserNamespacesHostNetworkSupport: 'a pod with its own user namespace can use the host network',
  TranslateStreamCloseWebsocketRequests:
    'commands over a WebSocket of protocol version 5 reach nodes that speak only SPDY',
  WatchList: 'a watch with sendInitialEvents=true sends the current objects first',
}

/**
 * Gates that are accepted in both states although they have no effect in this server: the server always uses the same
 * protocol to connect to nodes, and permission to write a ResourceClaim's status always covers all of its fields.
 */
const withoutEffect: readonly FeatureGate[] = [
  'DRAResourceClaimGranularStatusAuthorization',
  'ExtendWebSocketsToKubelet',
]

const stages = ['AllAlpha', 'AllBeta']

/** The inputs for choosing gates: the emulated version, and the gates that definitions use. */
export interface GateChoice {
  readonly version: EmulatedVersion
  readonly namedGates: () => ReadonlySet<FeatureGate>
}

/**
 * Returns the enabled gates. The setting of an individual gate overrides the setting of its stage, regardless of their
 * order. Throws UsageError.
 */
export function enabledGates(pairs: FeatureGatePairs, choice: GateChoice): Gates {
  const defaults = defaultGatesOf(choice.version)
  if (pairs.size === 0) return defaults
  const isActedOn = actedOnIn(choice)
  const settings = [...pairs].map(([name, on]) => ({ name, on }))
  const ofStages = settings
    .filter(({ name }) => stages.includes(name))
    .flatMap((pair) =>
      gatesOfStage(pair, choice.version)
        .filter(isActedOn)
        .map((name) => ({ name, on: pair.on })),
    )
  const namedGates = settings
    .filter(({ name }) => !stages.includes(name))
    .map((pair) => ({ name: acceptedGate(pair, choice.version, isActedOn), on: pair.on }))
  const gates = new Set(defaults)
  for (const { name, on } of [...ofStages, ...namedGates])
    if (on) gates.add(name)
    else gates.delete(name)
  return gates
}

interface Pair {
  readonly name: string
  readonly on: boolean
}

function gatesOfStage({ name: stageName, on }: Pair, version: EmulatedVersion): FeatureGate[] {
  if (stageName === 'AllAlpha' && on)
    throw refusal('AllAlpha=true: not all alpha features are implemented; name the gates instead')
  const stage = stageName === 'AllAlpha' ? 'alpha' : 'beta'
  return gatesIn(version).filter((name) => {
    const state = gateState(name, version)
    return state?.stage === stage && !state.locked
  })
}

function actedOnIn({ namedGates }: GateChoice): (name: FeatureGate) => boolean {
  const inDefinitions = namedGates()
  return (name) => Object.hasOwn(actedOn, name) || inDefinitions.has(name) || withoutEffect.includes(name)
}

/** Checks one pair. The error texts for unknown and locked gates are the same as in kube-apiserver. */
function acceptedGate(
  { name, on }: Pair,
  version: EmulatedVersion,
  isActedOn: (name: FeatureGate) => boolean,
): FeatureGate {
  const state = isFeatureGate(name) ? gateState(name, version) : undefined
  if (!isFeatureGate(name) || state === undefined) throw unrecognized(name, version)
  if (state.locked && on !== state.on)
    throw refusal(`cannot set feature gate ${name} to ${on}, feature is locked to ${state.on}`)
  const implemented = defaultGatesOf(version).has(name)
  if (on === implemented) return name
  if (!isActedOn(name))
    throw refusal(`${name}=${on}: the server implements only ${name}=${implemented} in Kubernetes ${version}`)
  return name
}

function unrecognized(name: string, version: EmulatedVersion): UsageError {
  const hint = closestMatch(name, [...gatesIn(version), ...stages])
  const more = hint === undefined ? '' : `; did you mean ${hint}?`
  return refusal(`unrecognized feature gate: ${name} (Kubernetes ${version})${more}`)
}

function refusal(text: string): UsageError {
  return new UsageError(`--feature-gates: ${text}`)
}

/** Returns all feature gates that control a part of the API. */
export function gatesNamedBy(parts: Iterable<Availability>): ReadonlySet<FeatureGate> {
  const names = new Set<FeatureGate>()
  for (const { gate } of parts) if (gate !== undefined) for (const name of gateNames(gate)) names.add(name)
  return names
}

/** Lists the effects of feature gates for the help text. */
export const featureGateHelp = Object.entries(actedOn)
  .map(([name, effect]) => `${name}: ${effect}`)
  .join('; ')
