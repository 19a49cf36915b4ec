/** Flags of `orch controller-manager`, in the groups that its help shows. They are named as kube-controller-manager's. */
import { flag, type OptionsOf, oneOf, readBoolean, text } from '../../base/flags/flags.ts'
import { clusterLoopFlags } from './cluster-loops.ts'
import { loggingFlags } from './logging.ts'
import { controllersFlag, sharedLoopFlags, syncFlags, volumeDirectoryFlag } from './loops.ts'
import { readClusterRanges } from './service-pools.ts'
import { readPort } from './serving.ts'
import { readAddress, readTime } from './values.ts'

const connectionFlags = {
  kubeconfig: flag(
    'kubeconfig',
    'FILE',
    '',
    text,
    'client config: the API server, and as whom to talk to it; by default those that orchctl uses',
  ),
  useServiceAccountCredentials: flag(
    'use-service-account-credentials',
    '',
    'false',
    readBoolean,
    'run each control loop as its own service account in kube-system, instead of as the user of the client config',
  ),
}

const loopFlags = {
  controllers: controllersFlag('*'),
  rootCaFile: flag(
    'root-ca-file',
    'FILE',
    '',
    text,
    'PEM bundle of CAs by which the API server is verified: published in every namespace and in token Secrets',
  ),
  serviceAccountPrivateKeyFile: flag(
    'service-account-private-key-file',
    'FILE',
    '',
    text,
    'PEM private key that signs the tokens of token Secrets; the API server must know it (--service-account-key-file)',
  ),
  createTokenSecrets: sharedLoopFlags.createTokenSecrets,
  schedulerConfig: sharedLoopFlags.schedulerConfig,
  resourceQuotaSyncPeriod: sharedLoopFlags.resourceQuotaSyncPeriod,
  volumeDirectory: volumeDirectoryFlag('without it the provisioner does not run'),
  ...clusterLoopFlags,
  serviceClusterIpRange: flag(
    'service-cluster-ip-range',
    'RANGES',
    '',
    (value) => (value === '' ? [] : readClusterRanges(value)),
    'range of the addresses of Services, of which no node gets any; or two, one of each family',
  ),
}

/** The files of one signer, or of all. */
function pairFlags<const N extends string>(option: N, name: string, whose: string) {
  const certificate = flag(
    `cluster-signing-${name}cert-file`,
    'FILE',
    '',
    text,
    `PEM certificate of the CA of ${whose}`,
  )
  const key = flag(`cluster-signing-${name}key-file`, 'FILE', '', text, 'PEM private key of that CA')
  return { [`${option}CertFile`]: certificate, [`${option}KeyFile`]: key } as {
    readonly [K in `${N}CertFile` | `${N}KeyFile`]: typeof key
  }
}

const signingFlags = {
  ...pairFlags('clusterSigning', '', 'all built-in signers'),
  ...pairFlags('clientSigning', 'kube-apiserver-client-', 'the signer of client certificates'),
  ...pairFlags('nodeClientSigning', 'kubelet-client-', "the signer of node agents' client certificates"),
  ...pairFlags('nodeServingSigning', 'kubelet-serving-', "the signer of node agents' serving certificates"),
  ...pairFlags('legacyUnknownSigning', 'legacy-unknown-', 'the signer of requests from before signers had names'),
  clusterSigningDuration: sharedLoopFlags.clusterSigningDuration,
}

const electionFlags = {
  leaderElect: flag(
    'leader-elect',
    '',
    'true',
    readBoolean,
    'work only while holding a Lease, so that several managers may run and one works',
  ),
  leaseDuration: flag(
    'leader-elect-lease-duration',
    'TIME',
    '15s',
    readTime,
    'time that others wait before they take the Lease of a leader that does not renew it',
  ),
  renewDeadline: flag(
    'leader-elect-renew-deadline',
    'TIME',
    '10s',
    readTime,
    'time after which a leader that cannot renew its Lease ends',
  ),
  retryPeriod: flag('leader-elect-retry-period', 'TIME', '2s', readTime, 'time between attempts to get or renew it'),
  resourceLock: flag('leader-elect-resource-lock', 'TYPE', 'leases', oneOf(['leases']), 'type of the lock'),
  resourceName: flag('leader-elect-resource-name', 'NAME', 'kube-controller-manager', text, 'name of the Lease'),
  resourceNamespace: flag('leader-elect-resource-namespace', 'NAME', 'kube-system', text, 'namespace of the Lease'),
}

const servingFlags = {
  bindAddress: flag('bind-address', 'IP', '127.0.0.1', readAddress, 'IP address to listen on; 0.0.0.0 or :: for all'),
  securePort: flag(
    'secure-port',
    'PORT',
    '10257',
    readPort,
    'port of /healthz, which is open to all, and /metrics, for those whom the API server permits; 0 for none',
  ),
  tlsCertFile: flag('tls-cert-file', 'FILE', '', text, 'PEM serving certificate; self-made at each start by default'),
  tlsPrivateKeyFile: flag('tls-private-key-file', 'FILE', '', text, 'PEM private key of --tls-cert-file'),
}

export const managerFlagGroups = {
  Connection: connectionFlags,
  'Control loop': { ...loopFlags, ...syncFlags },
  Signing: signingFlags,
  'Leader election': electionFlags,
  Serving: servingFlags,
  Logging: loggingFlags,
} as const

const managerFlags = {
  ...connectionFlags,
  ...loopFlags,
  ...signingFlags,
  ...electionFlags,
  ...servingFlags,
  ...loggingFlags,
}

/** All that the controller manager takes. */
export const allManagerFlags = { ...managerFlags, ...syncFlags } as typeof managerFlags

export type ManagerOptions = OptionsOf<typeof managerFlags>
