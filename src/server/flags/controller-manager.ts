/** Flags of `orch controller-manager`, in the groups that its help shows. They are named as kube-controller-manager's. */
import { flag, type OptionsOf, oneOf, readBoolean, text } from '../../base/flags/flags.ts'
import { clusterLoopFlags } from './cluster-loops.ts'
import { loggingFlags } from './logging.ts'
import { controllersFlag, sharedLoopFlags, syncFlags, volumeDirectoryFlag } from './loops.ts'
import { readClusterRanges } from './service-pools.ts'
import { readPort } from './serving.ts'
import { readAddress, readTime } from './values.ts'

const connectionFlags = {
  kubeconfig: flag({
    name: 'kubeconfig',
    value: 'FILE',
    read: text,
    help: 'client config: the API server, and as whom to talk to it; by default those that orchctl uses',
  }),
  useServiceAccountCredentials: flag({
    name: 'use-service-account-credentials',
    default: 'false',
    read: readBoolean,
    help: 'run each control loop as its own service account in kube-system, instead of as the user of the client config',
  }),
}

const loopFlags = {
  controllers: controllersFlag('*'),
  rootCaFile: flag({
    name: 'root-ca-file',
    value: 'FILE',
    read: text,
    help: 'PEM bundle of CAs by which the API server is verified: published in every namespace and in token Secrets',
  }),
  serviceAccountPrivateKeyFile: flag({
    name: 'service-account-private-key-file',
    value: 'FILE',
    read: text,
    help: 'PEM private key that signs the tokens of token Secrets; the API server must know it (--service-account-key-file)',
  }),
  createTokenSecrets: sharedLoopFlags.createTokenSecrets,
  schedulerConfig: sharedLoopFlags.schedulerConfig,
  resourceQuotaSyncPeriod: sharedLoopFlags.resourceQuotaSyncPeriod,
  volumeDirectory: volumeDirectoryFlag('without it the provisioner does not run'),
  ...clusterLoopFlags,
  serviceClusterIpRange: flag({
    name: 'service-cluster-ip-range',
    value: 'RANGES',
    read: (value) => (value === '' ? [] : readClusterRanges(value)),
    help: 'range of the addresses of Services, of which no node gets any; or two, one of each family',
  }),
}

/** The files of one signer, or of all. */
function pairFlags<const N extends string>(option: N, name: string, whose: string) {
  const certificate = flag({
    name: `cluster-signing-${name}cert-file`,
    value: 'FILE',
    read: text,
    help: `PEM certificate of the CA of ${whose}`,
  })
  const key = flag({
    name: `cluster-signing-${name}key-file`,
    value: 'FILE',
    read: text,
    help: 'PEM private key of that CA',
  })
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
  leaderElect: flag({
    name: 'leader-elect',
    default: 'true',
    read: readBoolean,
    help: 'work only while holding a Lease, so that several managers may run and one works',
  }),
  leaseDuration: flag({
    name: 'leader-elect-lease-duration',
    value: 'TIME',
    default: '15s',
    read: readTime,
    help: 'time that others wait before they take the Lease of a leader that does not renew it',
  }),
  renewDeadline: flag({
    name: 'leader-elect-renew-deadline',
    value: 'TIME',
    default: '10s',
    read: readTime,
    help: 'time after which a leader that cannot renew its Lease ends',
  }),
  retryPeriod: flag({
    name: 'leader-elect-retry-period',
    value: 'TIME',
    default: '2s',
    read: readTime,
    help: 'time between attempts to get or renew it',
  }),
  resourceLock: flag({
    name: 'leader-elect-resource-lock',
    value: 'TYPE',
    default: 'leases',
    read: oneOf(['leases']),
    help: 'type of the lock',
  }),
  resourceName: flag({
    name: 'leader-elect-resource-name',
    value: 'NAME',
    default: 'kube-controller-manager',
    read: text,
    help: 'name of the Lease',
  }),
  resourceNamespace: flag({
    name: 'leader-elect-resource-namespace',
    value: 'NAME',
    default: 'kube-system',
    read: text,
    help: 'namespace of the Lease',
  }),
}

const servingFlags = {
  bindAddress: flag({
    name: 'bind-address',
    value: 'IP',
    default: '127.0.0.1',
    read: readAddress,
    help: 'IP address to listen on; 0.0.0.0 or :: for all',
  }),
  securePort: flag({
    name: 'secure-port',
    value: 'PORT',
    default: '10257',
    read: readPort,
    help: 'port of /healthz, which is open to all, and /metrics, for those whom the API server permits; 0 for none',
  }),
  tlsCertFile: flag({
    name: 'tls-cert-file',
    value: 'FILE',
    read: text,
    help: 'PEM serving certificate; self-made at each start by default',
  }),
  tlsPrivateKeyFile: flag({
    name: 'tls-private-key-file',
    value: 'FILE',
    read: text,
    help: 'PEM private key of --tls-cert-file',
  }),
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

/** Options of `orch controller-manager`. */
export type ManagerOptions = OptionsOf<typeof managerFlags>
