/**
 * Flags of `orch controller-manager`, grouped as in its help text. The flags have the same names as in
 * kube-controller-manager.
 */
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
    help: 'kubeconfig with the URL of the API server and credentials; defaults to the kubeconfig that orchctl uses',
  }),
  useServiceAccountCredentials: flag({
    name: 'use-service-account-credentials',
    default: 'false',
    read: readBoolean,
    help: 'run each control loop with its own service account in kube-system instead of as the kubeconfig user',
  }),
}

const loopFlags = {
  controllers: controllersFlag('*'),
  rootCaFile: flag({
    name: 'root-ca-file',
    value: 'FILE',
    read: text,
    help: 'PEM bundle of CAs for verifying the API server; the manager publishes the bundle in every namespace and in token Secrets',
  }),
  serviceAccountPrivateKeyFile: flag({
    name: 'service-account-private-key-file',
    value: 'FILE',
    read: text,
    help: 'PEM private key that signs the tokens in token Secrets; the API server must accept it with --service-account-key-file',
  }),
  createTokenSecrets: sharedLoopFlags.createTokenSecrets,
  schedulerConfig: sharedLoopFlags.schedulerConfig,
  resourceQuotaSyncPeriod: sharedLoopFlags.resourceQuotaSyncPeriod,
  volumeDirectory: volumeDirectoryFlag('without a directory, the provisioner does not run'),
  ...clusterLoopFlags,
  serviceClusterIpRange: flag({
    name: 'service-cluster-ip-range',
    value: 'RANGES',
    read: (value) => (value === '' ? [] : readClusterRanges(value)),
    help: 'CIDR range for Service IPs, excluded from node CIDRs; for dual stack, two ranges separated by a comma',
  }),
}

/** Returns the CA file flags for one signer, or for all signers. */
function pairFlags<const N extends string>(option: N, name: string, certificateUser: string) {
  const certificate = flag({
    name: `cluster-signing-${name}cert-file`,
    value: 'FILE',
    read: text,
    help: `PEM CA certificate for ${certificateUser}`,
  })
  const key = flag({
    name: `cluster-signing-${name}key-file`,
    value: 'FILE',
    read: text,
    help: `PEM private key of the CA certificate for ${certificateUser}`,
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
  ...pairFlags('legacyUnknownSigning', 'legacy-unknown-', 'the signer of legacy requests that name no signer'),
  clusterSigningDuration: sharedLoopFlags.clusterSigningDuration,
}

const electionFlags = {
  leaderElect: flag({
    name: 'leader-elect',
    default: 'true',
    read: readBoolean,
    help: 'run the control loops only while holding the leader-election Lease, so that several managers can run for high availability',
  }),
  leaseDuration: flag({
    name: 'leader-elect-lease-duration',
    value: 'TIME',
    default: '15s',
    read: readTime,
    help: 'time after which another manager takes over the leader-election Lease if it was not renewed',
  }),
  renewDeadline: flag({
    name: 'leader-elect-renew-deadline',
    value: 'TIME',
    default: '10s',
    read: readTime,
    help: 'time after which a leader that cannot renew its Lease exits',
  }),
  retryPeriod: flag({
    name: 'leader-elect-retry-period',
    value: 'TIME',
    default: '2s',
    read: readTime,
    help: 'time between attempts to acquire or renew the leader-election Lease',
  }),
  resourceLock: flag({
    name: 'leader-elect-resource-lock',
    value: 'TYPE',
    default: 'leases',
    read: oneOf(['leases']),
    help: 'resource type used for leader election; only leases is supported',
  }),
  resourceName: flag({
    name: 'leader-elect-resource-name',
    value: 'NAME',
    default: 'kube-controller-manager',
    read: text,
    help: 'name of the leader-election Lease',
  }),
  resourceNamespace: flag({
    name: 'leader-elect-resource-namespace',
    value: 'NAME',
    default: 'kube-system',
    read: text,
    help: 'namespace of the leader-election Lease',
  }),
}

const servingFlags = {
  bindAddress: flag({
    name: 'bind-address',
    value: 'IP',
    default: '127.0.0.1',
    read: readAddress,
    help: 'IP address to listen on; 0.0.0.0 or :: for all interfaces',
  }),
  securePort: flag({
    name: 'secure-port',
    value: 'PORT',
    default: '10257',
    read: readPort,
    help: 'HTTPS port that serves /healthz (unauthenticated) and /metrics (requires authorization by the API server); 0 disables the port',
  }),
  tlsCertFile: flag({
    name: 'tls-cert-file',
    value: 'FILE',
    read: text,
    help: 'PEM serving certificate; by default, the manager generates a self-signed certificate at each start',
  }),
  tlsPrivateKeyFile: flag({
    name: 'tls-private-key-file',
    value: 'FILE',
    read: text,
    help: 'PEM private key for --tls-cert-file',
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

/** The flags of the controller manager, including those for concurrency. */
export const allManagerFlags = { ...managerFlags, ...syncFlags } as typeof managerFlags

/** Parsed flags of `orch controller-manager`. */
export type ManagerOptions = OptionsOf<typeof managerFlags>
