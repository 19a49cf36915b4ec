/** The flags of the server, and the frozen options that they become. */
import { isIP } from 'node:net'
import { flag, type OptionsOf, oneOf, readBoolean, text, UsageError } from '../base/flags.ts'
import { type ProfileName, profileNames } from '../model/vendor.ts'
import { logFormats } from '../telemetry/log.ts'
import { controlNames, defaultControls, readControls } from './admission-controls.ts'
import { featureGateHelp, readFeatureGates } from './feature-gates.ts'
import { list, readTime } from './flag-values.ts'
import { identityFlags } from './identity-flags.ts'
import { readPairs } from './pairs.ts'
import { readClusterRanges, readPortRange } from './service-pools.ts'
import { tokenFlags } from './token-flags.ts'

export const authorizationModes = ['Node', 'RBAC', 'ABAC', 'Webhook', 'AlwaysAllow', 'AlwaysDeny'] as const
export type AuthorizationMode = (typeof authorizationModes)[number]

export const serverFlags = {
  bindAddress: flag('bind-address', 'IP', '127.0.0.1', readAddress, 'the address to listen on; 0.0.0.0 or :: for all'),
  securePort: flag('secure-port', 'PORT', '6443', readPort, 'the port to serve HTTPS on; 0 picks a free one'),
  advertiseAddress: flag(
    'advertise-address',
    'IP',
    '',
    (value) => (value === '' ? '' : readAddress(value)),
    'the address to announce to clients, if it is not the one listened on',
  ),
  dataDir: flag(
    'data-dir',
    'DIR',
    '.orch/data',
    readDirectory,
    'where the embedded store and the self-made certificates live; one server at a time',
  ),
  adminKubeconfig: flag(
    'admin-kubeconfig',
    'FILE',
    '.orch/admin.kubeconfig',
    text,
    'where the client config of the administrator is written; empty: nowhere',
  ),
  etcdServers: flag(
    'etcd-servers',
    'URLS',
    '',
    readServers,
    'members of one etcd cluster, separated by commas, to use instead of the embedded store',
  ),
  etcdPrefix: flag('etcd-prefix', 'PATH', '/orch/', readPrefix, 'under which all keys lie in etcd'),
  etcdCafile: flag('etcd-cafile', 'FILE', '', text, 'PEM bundle of the CAs that the members of etcd are verified by'),
  etcdCertfile: flag('etcd-certfile', 'FILE', '', text, 'PEM certificate to show to etcd'),
  etcdKeyfile: flag('etcd-keyfile', 'FILE', '', text, 'PEM key of --etcd-certfile'),
  tlsCertFile: flag(
    'tls-cert-file',
    'FILE',
    '',
    text,
    'PEM certificate (and intermediates) to serve with, instead of a self-made one',
  ),
  tlsPrivateKeyFile: flag('tls-private-key-file', 'FILE', '', text, 'PEM key of --tls-cert-file'),
  tlsSan: flag(
    'tls-san',
    'NAMES',
    '',
    list,
    'further host names and IP addresses for the self-made serving certificate, separated by commas',
  ),
  clientCaFile: flag(
    'client-ca-file',
    'FILE',
    '',
    text,
    'PEM bundle of CAs whose client certificates are accepted, beside the self-made one',
  ),
  ...identityFlags,
  tokenAuthFile: flag('token-auth-file', 'FILE', '', text, 'CSV of static tokens: token,user,uid,"group1,group2"'),
  authorizationMode: flag(
    'authorization-mode',
    'MODES',
    'Node,RBAC',
    readModes,
    `who may do what, beside system:masters, who may do all; in order, separated by commas: ${authorizationModes.join(', ')}`,
  ),
  authorizationPolicyFile: flag(
    'authorization-policy-file',
    'FILE',
    '',
    text,
    'the policies of the mode ABAC, one JSON object on each line',
  ),
  authorizationWebhookConfigFile: flag(
    'authorization-webhook-config-file',
    'FILE',
    '',
    text,
    'whom the mode Webhook asks: a client config (kubeconfig) that names the service',
  ),
  authorizationWebhookVersion: flag(
    'authorization-webhook-version',
    'VERSION',
    'v1beta1',
    oneOf(['v1', 'v1beta1']),
    'the version of SubjectAccessReview that the service is asked in: v1 or v1beta1',
  ),
  authorizationWebhookCacheAuthorizedTtl: flag(
    'authorization-webhook-cache-authorized-ttl',
    'TIME',
    '5m',
    readTime,
    'how long a yes of the service is remembered; 0s: not at all',
  ),
  authorizationWebhookCacheUnauthorizedTtl: flag(
    'authorization-webhook-cache-unauthorized-ttl',
    'TIME',
    '30s',
    readTime,
    'how long anything else is remembered',
  ),
  ...tokenFlags,
  anonymousAuth: flag(
    'anonymous-auth',
    '',
    'auto',
    oneOf(['auto', 'true', 'false']),
    'whether requests without credentials come in, as system:anonymous: true, false, or auto, which is true unless AlwaysAllow is among the modes',
  ),
  profile: flag(
    'profile',
    'NAME',
    'orch',
    readProfile,
    `the vendor names to speak: ${profileNames.join(' or ')}; a store keeps the one it was made with`,
  ),
  serviceClusterIpRange: flag(
    'service-cluster-ip-range',
    'RANGES',
    '10.0.0.0/24',
    readClusterRanges,
    'the range that Services get their addresses from; or two of them, one of each family, separated by a comma, the primary one first',
  ),
  serviceNodePortRange: flag(
    'service-node-port-range',
    'RANGE',
    '30000-32767',
    readPortRange,
    'the ports of nodes that Services get theirs from',
  ),
  historyDuration: flag(
    'history-duration',
    'TIME',
    '5m',
    readHistory,
    'how long old versions are kept for watches and paged lists',
  ),
  eventTtl: flag(
    'event-ttl',
    'TIME',
    '1h0m0s',
    readTtl,
    'how long events stay after they were last written; they go within seconds of that time, late rather than early',
  ),
  shutdownGrace: flag(
    'shutdown-grace-period',
    'TIME',
    '10s',
    readTime,
    'how long requests under way may take to finish when the server stops',
  ),
  enableAdmissionPlugins: flag(
    'enable-admission-plugins',
    'NAMES',
    '',
    readControls,
    `admission controls to run beside those that run by default (${defaultControls.join(', ')}), separated by commas; there are ${controlNames.join(', ')}; their order is the server's`,
  ),
  disableAdmissionPlugins: flag(
    'disable-admission-plugins',
    'NAMES',
    '',
    readControls,
    'admission controls not to run, although they would by default',
  ),
  admissionControlConfigFile: flag(
    'admission-control-config-file',
    'FILE',
    '',
    text,
    'an AdmissionConfiguration: the settings of controls that have some',
  ),
  featureGates: flag(
    'feature-gates',
    'PAIRS',
    '',
    readFeatureGates,
    `features to turn on or off, as NAME=true or NAME=false, separated by commas. ${featureGateHelp}`,
  ),
  runtimeConfig: flag(
    'runtime-config',
    'PAIRS',
    '',
    readPairs,
    'what is served, as GROUP/VERSION=false or GROUP/VERSION/TYPE=false, separated by commas; api/all, api/ga, api/beta and api/alpha stand for all such versions',
  ),
  verbosity: flag('v,v', 'N', '0', readVerbosity, 'how much is logged: from 3 on every request'),
  loggingFormat: flag(
    'logging-format',
    'FORMAT',
    'text',
    oneOf(logFormats),
    `how lines are logged: ${logFormats.join(' or ')}`,
  ),
}

export type ServerOptions = OptionsOf<typeof serverFlags>

/** What `orch up` takes besides: for its control loops, and for what it puts into a new store. */
export const upFlags = {
  resourceQuotaSyncPeriod: flag(
    'resource-quota-sync-period',
    'TIME',
    '2m',
    readTime,
    'how long a ResourceQuota stays as it is before what it counts is counted anew; longer than any write takes',
  ),
  defaultLimitRange: flag(
    'default-limit-range',
    'BOOL',
    'true',
    readBoolean,
    'whether containers of the namespace default ask for 100m of cpu where they say nothing: makes the LimitRange `limits` there, unless there is one',
  ),
}

export type UpOptions = OptionsOf<typeof upFlags>

function readPort(value: string): number {
  const port = Number(value)
  if (!/^\d{1,5}$/.test(value) || port > 65535)
    throw new UsageError(`${JSON.stringify(value)} is not a port: use 0 to 65535`)
  return port
}

function readAddress(value: string): string {
  if (isIP(value) === 0) throw new UsageError(`${JSON.stringify(value)} is not an IP address`)
  return value
}

function readDirectory(value: string): string {
  if (value === '') throw new UsageError('a directory is needed')
  return value
}

function readServers(value: string): string[] {
  return list(value).map((item) => {
    const url = URL.canParse(item) ? new URL(item) : undefined
    if (
      url === undefined ||
      !/^https?:$/.test(url.protocol) ||
      url.pathname !== '/' ||
      url.search !== '' ||
      url.username !== ''
    ) {
      throw new UsageError(
        `${JSON.stringify(item)} is not the address of a member: use one such as https://10.0.0.1:2379`,
      )
    }
    return url.origin
  })
}

function readPrefix(value: string): string {
  if (!/^\/[!-~]{0,200}$/.test(value))
    throw new UsageError(`${JSON.stringify(value)} is not a prefix: use one such as /orch/`)
  return value
}

function readModes(value: string): AuthorizationMode[] {
  const modes = list(value)
  if (modes.length === 0) throw new UsageError(`at least one mode is needed: ${authorizationModes.join(', ')}`)
  return modes.map((mode) => {
    const known = authorizationModes.find((candidate) => candidate === mode)
    if (known === undefined)
      throw new UsageError(`unknown mode ${JSON.stringify(mode)}; known are ${authorizationModes.join(', ')}`)
    return known
  })
}

function readProfile(value: string): ProfileName {
  const known = profileNames.find((candidate) => candidate === value)
  if (known === undefined)
    throw new UsageError(`unknown profile ${JSON.stringify(value)}; known are ${profileNames.join(', ')}`)
  return known
}

function readVerbosity(value: string): number {
  if (!/^\d{1,2}$/.test(value)) throw new UsageError(`${JSON.stringify(value)} is not a level: use 0 to 99`)
  return Number(value)
}

function readTtl(value: string): number {
  const ms = readTime(value)
  if (ms < 1000 || ms > 10_000 * 3_600_000) throw new UsageError('events stay for 1s to 10000h')
  return ms
}

function readHistory(value: string): number {
  const ms = readTime(value)
  if (ms < 1000 || ms > 24 * 3_600_000) throw new UsageError('history is kept for 1s to 24h')
  return ms
}
