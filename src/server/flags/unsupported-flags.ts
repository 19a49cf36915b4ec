/**
 * Flags of kube-apiserver 1.23 to 1.36 and kube-controller-manager 1.23 that orch does not support, with the reasons.
 */
import type { UnsupportedFlag, UnsupportedFlags } from './unsupported-flag.ts'

const no = (why: string): UnsupportedFlag => ({ why })
const only = (value: string | readonly string[], why: string): UnsupportedFlag => ({
  why,
  only: typeof value === 'string' ? [value] : value,
})

/** Returns an entry for each of the flags, all with the same reason. */
function all(names: string, flag: UnsupportedFlag): UnsupportedFlags {
  return Object.fromEntries(names.split(' ').map((name) => [name, flag]))
}

const logFlags: UnsupportedFlags = {
  ...all(
    'log-dir log-file log-file-max-size',
    no('the log is written to standard error; redirect it, or collect it with systemd or the container engine'),
  ),
  logtostderr: only('true', 'the log is written to standard error'),
  ...all('alsologtostderr one-output', only('false', 'the log has a single destination, standard error')),
  ...all('add-dir-header skip-headers skip-log-headers', only('false', 'log lines have no such headers')),
  stderrthreshold: no('the whole log is written to standard error; set the verbosity with --v'),
  'log-backtrace-at': only(':0', 'orch is not written in Go; errors are logged with their cause'),
  vmodule: no('the log has one level for the whole server; use --v'),
  'log-flush-frequency': no('log lines are written immediately'),
  'log-json-info-buffer-size': only('0', 'log lines are written immediately'),
  'log-json-split-stream': only('false', 'the log has a single destination, standard error'),
  'experimental-logging-sanitization': no('secrets and tokens are never logged'),
}

/** Log flags that kube-apiserver has supported since version 1.31. */
const newerLogFlags: UnsupportedFlags = {
  'log-text-info-buffer-size': only('0', 'log lines are written immediately'),
  'log-text-split-stream': only('false', 'the log has a single destination, standard error'),
  'enable-logs-handler': only('false', 'the server serves no log files'),
}

const metricFlags: UnsupportedFlags = {
  'allow-metric-labels': no('label values come from fixed sets; drop metrics by relabelling in Prometheus'),
  'disabled-metrics': no('all metrics are always exposed; drop unwanted ones by relabelling in Prometheus'),
  'show-hidden-metrics-for-version': no('no metrics are hidden'),
}

const portFlags: UnsupportedFlags = {
  'http2-max-streams-per-connection': only(['250', '0'], 'a connection allows at most 250 streams'),
  'permit-address-sharing': only('false', 'the address is not shared; run one server per address and port'),
  'permit-port-sharing': only('false', 'the port is not shared; put a load balancer in front of several servers'),
  'tls-sni-cert-key': no(
    'the server has a single serving certificate; set --tls-cert-file to one that covers all names, or use --tls-san',
  ),
}

const cloudFlags = all(
  'cloud-config cloud-provider',
  only(['', 'external'], "no cloud provider is built in; run your provider's cloud-controller-manager"),
)

const auditFlags: UnsupportedFlags = {
  ...all(
    'audit-log-version audit-webhook-version',
    only(['audit.k8s.io/v1', 'audit.orch.io/v1'], 'audit events have a single version, v1'),
  ),
  'audit-log-batch-throttle-enable': only('false', 'batches are written to the audit log without throttling'),
  ...all(
    'audit-log-batch-throttle-burst audit-log-batch-throttle-qps',
    no('batches are written to the audit log without throttling; only the webhook can be throttled'),
  ),
}

const storeFlags: UnsupportedFlags = {
  'storage-backend': only(['etcd3', ''], 'the backend is etcd if --etcd-servers is set, otherwise the embedded store'),
  'storage-media-type': only('application/json', 'objects are stored as JSON'),
  'etcd-compaction-interval': no('history is kept for --history-duration and then compacted'),
  'etcd-count-metric-poll-period': no('object counts are updated with every write'),
  'etcd-db-metric-poll-interval': no('the etcd database size is not polled; scrape etcd directly'),
  'encryption-provider-config-automatic-reload': only(
    'false',
    'the encryption configuration is read at start; restart the server after a change',
  ),
  ...all(
    'etcd-healthcheck-timeout etcd-readycheck-timeout',
    no('requests to etcd have a fixed timeout; /readyz fails while etcd does not respond'),
  ),
  'storage-initialization-timeout': no(
    'set --livez-grace-period, the time that the server waits for its store at start',
  ),
  'etcd-servers-overrides': no('all objects share one store, so that their resource versions have one order'),
  'lease-reuse-duration-seconds': no('each expiring object has its own etcd lease'),
  'watch-cache': only('true', 'lists and watches are always served from memory'),
  ...all(
    'default-watch-cache-size watch-cache-sizes',
    no('caches hold all objects; --history-duration limits how far back a watch can start'),
  ),
  'delete-collection-workers': no('deletecollection always deletes objects concurrently'),
  'enable-garbage-collector': only(
    'true',
    'the garbage collector is a control loop; disable it with --controllers=*,-garbagecollector',
  ),
}

const versionFlags: UnsupportedFlags = {
  ...all(
    'emulation-forward-compatible runtime-config-emulation-forward-compatible',
    only('false', 'the server serves only the API versions of --emulated-version'),
  ),
  'min-compatibility-version': no('the server is compatible with all versions from 1.23 on; set --emulated-version'),
}

/** Settings for features that orch does not implement. Their default values have no effect in Kubernetes. */
const unusedFlags: UnsupportedFlags = {
  'coordinated-leadership-lease-duration': only('15s', 'the server does not choose the leaders of components'),
  'coordinated-leadership-renew-deadline': only('10s', 'the server does not choose the leaders of components'),
  'coordinated-leadership-retry-period': only('2s', 'the server does not choose the leaders of components'),
  ...all(
    'peer-advertise-ip peer-advertise-port peer-ca-file',
    only('', 'requests are not forwarded to servers of other versions; give all servers the same --emulated-version'),
  ),
}

/** Unsupported flags of kube-apiserver. */
export const unsupportedApiServerFlags: UnsupportedFlags = {
  ...logFlags,
  ...newerLogFlags,
  ...versionFlags,
  ...unusedFlags,
  ...metricFlags,
  'allow-metric-labels-manifest': metricFlags['allow-metric-labels']!,
  ...portFlags,
  ...cloudFlags,
  ...auditFlags,
  ...storeFlags,
  'admission-control': no(
    'the order of admission plugins is fixed; use --enable-admission-plugins and --disable-admission-plugins',
  ),
  'aggregator-reject-forwarding-redirect': only('true', 'redirects from aggregated API servers are never forwarded'),
  'allow-privileged': only('true', 'privileged containers are allowed; forbid them with Pod Security admission'),
  'debug-socket-path': only('', 'profiles are served on the secure port; use --profiling'),
  'disable-http2-serving': only('false', 'HTTP/2 is always offered; clients choose the protocol'),
  'service-account-signing-endpoint': no('the server signs tokens itself; set --service-account-signing-key-file'),
  'tls-curve-preferences': no('key exchange uses the default groups of Node.js'),
  'apiserver-count': no('servers that share a store discover each other through their leases'),
  'contention-profiling': only('false', 'the server has no locks to profile; use --profiling'),
  'egress-selector-config-file': no('webhooks and aggregated API servers are called directly'),
  'enable-aggregator-routing': only('true', 'aggregated API servers are called at their endpoint addresses'),
  'endpoint-reconciler-type': only('lease', 'servers that share a store discover each other through their leases'),
  'external-hostname': no('the server uses the host name of the request; add further names with --tls-san'),
  ...all(
    'identity-lease-duration-seconds identity-lease-renew-interval-seconds',
    no('servers have no identity Leases in the API, and the leases in the store have fixed durations'),
  ),
  'kubernetes-service-node-port': only(
    '0',
    "the API server's Service has no node port; expose the server with another Service",
  ),
  'master-service-namespace': only('default', "the API server's Service is in the default namespace"),
  'max-connection-bytes-per-sec': only('0', 'connections are not throttled; API priority and fairness limits requests'),
  'shutdown-send-retry-after': only(
    'false',
    '/readyz tells clients that the server is stopping; use --shutdown-delay-duration',
  ),
  'shutdown-watch-termination-grace-period': only(
    ['0s', '0'],
    'watches end when the server stops, and clients resume them on another server',
  ),
}

const unbuilt = (loop: string) => no(`the ${loop} control loop is not implemented; run kube-controller-manager for it`)
const fixedPace = (what: string) => no(`${what}; no setting is needed`)

/** Unsupported flags of kube-controller-manager. */
export const unsupportedManagerFlags: UnsupportedFlags = {
  ...logFlags,
  ...metricFlags,
  ...portFlags,
  ...cloudFlags,
  ...all(
    'tls-cipher-suites tls-min-version',
    no("the manager's port supports TLS 1.2 and 1.3 with the default Node.js cipher suites"),
  ),
  'cert-dir': no('set the serving certificate with --tls-cert-file and --tls-private-key-file'),
  'contention-profiling': only('false', 'the manager has no locks to profile'),
  profiling: only('false', 'the manager serves no /debug pages'),
  ...all(
    'enable-leader-migration leader-migration-config',
    no(
      'leader migration is not supported; split loops between managers with --controllers and --leader-elect-resource-name',
    ),
  ),
  'cidr-allocator-type': only('RangeAllocator', 'node CIDRs are allocated from --cluster-cidr'),
  ...all(
    'configure-cloud-routes route-reconciliation-period external-cloud-volume-plugin cluster-name',
    cloudFlags['cloud-provider']!,
  ),
  'controller-start-interval': only(['0s', '0'], 'all loops start together'),
  'feature-gates': no('set the feature gates of the API server'),
  ...all(
    'kube-api-burst kube-api-qps',
    no('the manager does not throttle its requests; the API server limits them with API priority and fairness'),
  ),
  'kube-api-content-type': only('application/json', 'the manager uses JSON'),
  'min-resync-period': no('informers do not resync: each change is processed once, and failures are retried'),
  'concurrent-service-syncs': unbuilt('service'),
  ...all(
    'authentication-kubeconfig authentication-skip-lookup authentication-token-webhook-cache-ttl authentication-tolerate-lookup-failure client-ca-file requestheader-allowed-names requestheader-client-ca-file requestheader-extra-headers-prefix requestheader-group-headers requestheader-username-headers',
    no('callers are authenticated and authorized by the API server that --kubeconfig names'),
  ),
  ...all(
    'authorization-always-allow-paths authorization-kubeconfig authorization-webhook-cache-authorized-ttl authorization-webhook-cache-unauthorized-ttl',
    no('callers are authenticated and authorized by the API server that --kubeconfig names'),
  ),
  'attach-detach-reconcile-sync-period': fixedPace('attachments are reconciled on every change'),
  'disable-attach-detach-reconcile-sync': only('false', 'disable the loop with --controllers=*,-attachdetach'),
  'mirroring-concurrent-service-endpoint-syncs': fixedPace('the loop always processes several objects concurrently'),
  'enable-garbage-collector': only('true', 'disable the loop with --controllers=*,-garbagecollector'),
  'horizontal-pod-autoscaler-cpu-initialization-period': only(['5m0s', '5m'], 'the period is fixed at five minutes'),
  'horizontal-pod-autoscaler-initial-readiness-delay': only('30s', 'the delay is fixed at thirty seconds'),
  'namespace-sync-period': fixedPace('namespaces are reconciled on every change'),
  'enable-taint-manager': only('true', 'taint-based eviction is always enabled'),
  'node-monitor-period': fixedPace('nodes are checked on every change and when their grace period ends'),
  'pod-eviction-timeout': no(
    "a pod's tolerations determine how long it stays on an unreachable node; see the API server flag --default-unreachable-toleration-seconds",
  ),
  'enable-dynamic-provisioning': only('true', 'the StorageClass of a claim selects the provisioner'),
  'enable-hostpath-provisioner': no('enable the host-path-provisioner loop with --controllers'),
  ...all(
    'flex-volume-plugin-dir volume-host-allow-local-loopback volume-host-cidr-denylist',
    no('no volume plugins are built in'),
  ),
  ...all(
    'pv-recycler-increment-timeout-nfs pv-recycler-minimum-timeout-hostpath pv-recycler-minimum-timeout-nfs pv-recycler-pod-template-filepath-hostpath pv-recycler-pod-template-filepath-nfs pv-recycler-timeout-increment-hostpath',
    no('volumes are not recycled; use the reclaim policy Delete or Retain'),
  ),
  'pvclaimbinder-sync-period': fixedPace('claims are reconciled on every change'),
  'concurrent-ttl-after-finished-syncs': fixedPace('the loop always processes several objects concurrently'),
  master: no('set the server in a kubeconfig and pass it with --kubeconfig'),
}
