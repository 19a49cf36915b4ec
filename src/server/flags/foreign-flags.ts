/** The flags of kube-apiserver and kube-controller-manager 1.23 that this program does not have, and why. */
import type { ForeignFlag, ForeignFlags } from './foreign.ts'

const no = (why: string): ForeignFlag => ({ why })
const only = (value: string | readonly string[], why: string): ForeignFlag => ({
  why,
  only: typeof value === 'string' ? [value] : value,
})

/** The same reason for several flags. */
function all(names: string, flag: ForeignFlag): ForeignFlags {
  return Object.fromEntries(names.split(' ').map((name) => [name, flag]))
}

const logFlags: ForeignFlags = {
  ...all(
    'log-dir log-file log-file-max-size',
    no('the log goes to the standard error; redirect it, or let systemd or the container engine keep it'),
  ),
  logtostderr: only('true', 'the log goes to the standard error'),
  ...all('alsologtostderr one-output', only('false', 'the log has one destination, the standard error')),
  ...all('add-dir-header skip-headers skip-log-headers', only('false', 'log lines have no such headers')),
  stderrthreshold: no('the whole log goes to the standard error; choose how much with --v'),
  'log-backtrace-at': only(':0', 'lines of Go source do not exist here; errors are logged with their cause'),
  vmodule: no('the log has one level for the whole server; use --v'),
  'log-flush-frequency': no('log lines are written at once'),
  'log-json-info-buffer-size': only('0', 'log lines are written at once'),
  'log-json-split-stream': only('false', 'the log has one destination, the standard error'),
  'experimental-logging-sanitization': no('secrets and tokens never reach the log'),
}

const metricFlags: ForeignFlags = {
  'allow-metric-labels': no('label values come from fixed sets; drop others with relabelling in Prometheus'),
  'disabled-metrics': no('all metrics are always shown; drop what you do not want with relabelling in Prometheus'),
  'show-hidden-metrics-for-version': no('no metrics are hidden'),
}

const portFlags: ForeignFlags = {
  'http2-max-streams-per-connection': only(['250', '0'], 'a connection has 250 streams at most'),
  'permit-address-sharing': only('false', 'the address is not shared; use one server per address and port'),
  'permit-port-sharing': only('false', 'the port is not shared; use a load balancer in front of several servers'),
  'tls-sni-cert-key': no(
    'there is one serving certificate; give --tls-cert-file one that has all names, or use --tls-san',
  ),
}

const cloudFlags = all(
  'cloud-config cloud-provider',
  only(['', 'external'], 'there are no cloud providers inside; run the cloud-controller-manager of your provider'),
)

const auditFlags: ForeignFlags = {
  ...all(
    'audit-log-version audit-webhook-version',
    only(['audit.k8s.io/v1', 'audit.orch.io/v1'], 'audit events have one version, v1'),
  ),
  'audit-log-batch-throttle-enable': only('false', 'batches are written to the audit log as they come'),
  ...all(
    'audit-log-batch-throttle-burst audit-log-batch-throttle-qps',
    no('batches are written to the audit log as they come; the webhook has such limits'),
  ),
}

const storeFlags: ForeignFlags = {
  'storage-backend': only(['etcd3', ''], 'the backend is etcd where --etcd-servers is set, else the embedded store'),
  'storage-media-type': only('application/json', 'objects are stored as JSON'),
  'etcd-compaction-interval': no('history is kept for --history-duration, and dropped after it'),
  'etcd-count-metric-poll-period': no('objects are counted as they come and go'),
  'etcd-db-metric-poll-interval': no('the size of etcd is not polled; scrape etcd itself'),
  'etcd-healthcheck-timeout': no('a request to etcd has a fixed time; /readyz says when etcd does not answer'),
  'etcd-servers-overrides': no('all objects are in one store, so that their versions have one order'),
  'lease-reuse-duration-seconds': no('each object that expires has a lease of etcd of its own'),
  'watch-cache': only('true', 'lists and watches are always served from memory'),
  ...all(
    'default-watch-cache-size watch-cache-sizes',
    no('caches hold all objects; how far back a watch may begin is --history-duration'),
  ),
  'delete-collection-workers': no('deletions of a collection run side by side by themselves'),
  'enable-garbage-collector': only(
    'true',
    'the garbage collector is a control loop; leave it out with --controllers=*,-garbagecollector',
  ),
}

/** What kube-apiserver has besides. */
export const apiServerForeign: ForeignFlags = {
  ...{ ...logFlags, ...metricFlags, ...portFlags, ...cloudFlags, ...auditFlags, ...storeFlags },
  'admission-control': no(
    'the order of controls is fixed; use --enable-admission-plugins and --disable-admission-plugins',
  ),
  'aggregator-reject-forwarding-redirect': only('true', 'redirects of aggregated servers are never passed on'),
  'allow-privileged': only('true', 'privileged containers are allowed; forbid them with pod security admission'),
  'apiserver-count': no('servers that share a store find each other by their leases'),
  'contention-profiling': only('false', 'there are no locks to profile; use --profiling'),
  'egress-selector-config-file': no('webhooks and aggregated servers are called directly'),
  'enable-aggregator-routing': only('true', 'aggregated servers are reached at the addresses of their endpoints'),
  'endpoint-reconciler-type': only('lease', 'servers that share a store find each other by their leases'),
  'external-hostname': no('the host name of the request is used; name further ones with --tls-san'),
  ...all(
    'identity-lease-duration-seconds identity-lease-renew-interval-seconds',
    no('servers have no identity leases of the API; those of the store have fixed times'),
  ),
  'kubernetes-service-node-port': only(
    '0',
    "the cluster's own Service has no node port; publish the server with a Service of your own",
  ),
  'master-service-namespace': only('default', "the cluster's own Service is in the namespace default"),
  'max-connection-bytes-per-sec': only(
    '0',
    'connections are not throttled; requests are shared by priority and fairness',
  ),
  'shutdown-send-retry-after': only(
    'false',
    'clients learn from /readyz that the server stops; use --shutdown-delay-duration',
  ),
}

const unbuilt = (loop: string) => no(`the control loop ${loop} is not built in; run that of kube-controller-manager`)
const fixedPace = (what: string) => no(`${what}; there is nothing to set`)

/** What kube-controller-manager has besides. */
export const managerForeign: ForeignFlags = {
  ...{ ...logFlags, ...metricFlags, ...portFlags, ...cloudFlags },
  ...all(
    'tls-cipher-suites tls-min-version',
    no('the port of the manager speaks TLS 1.2 and 1.3 with the ciphers of Node'),
  ),
  'cert-dir': no('give the pair with --tls-cert-file and --tls-private-key-file'),
  'contention-profiling': only('false', 'there are no locks to profile'),
  profiling: only('false', 'the manager has no /debug pages'),
  ...all(
    'enable-leader-migration leader-migration-config',
    no('there is nothing to migrate from; share loops with --controllers and a Lease of its own'),
  ),
  'cidr-allocator-type': only('RangeAllocator', 'nodes get their ranges from --cluster-cidr'),
  ...all(
    'configure-cloud-routes route-reconciliation-period external-cloud-volume-plugin cluster-name',
    cloudFlags['cloud-provider']!,
  ),
  'controller-start-interval': only(['0s', '0'], 'loops start together'),
  'feature-gates': no('the gates are those of the API server'),
  ...all(
    'kube-api-burst kube-api-qps',
    no('the manager does not throttle itself; the API server shares itself by priority and fairness'),
  ),
  'kube-api-content-type': only('application/json', 'the manager speaks JSON'),
  'min-resync-period': no('informers do not resync: each change is seen once, and what failed is repeated'),
  'concurrent-service-syncs': unbuilt('service'),
  ...all(
    'authentication-kubeconfig authentication-skip-lookup authentication-token-webhook-cache-ttl authentication-tolerate-lookup-failure client-ca-file requestheader-allowed-names requestheader-client-ca-file requestheader-extra-headers-prefix requestheader-group-headers requestheader-username-headers',
    no('the API server that --kubeconfig names is asked who a caller is and what the caller may do'),
  ),
  ...all(
    'authorization-always-allow-paths authorization-kubeconfig authorization-webhook-cache-authorized-ttl authorization-webhook-cache-unauthorized-ttl',
    no('the API server that --kubeconfig names is asked who a caller is and what the caller may do'),
  ),
  'attach-detach-reconcile-sync-period': fixedPace('attachments are looked at when something changes'),
  'disable-attach-detach-reconcile-sync': only('false', 'leave the loop out with --controllers=*,-attachdetach'),
  'mirroring-concurrent-service-endpoint-syncs': fixedPace('the loop works on several objects at a time'),
  'enable-garbage-collector': only('true', 'leave the loop out with --controllers=*,-garbagecollector'),
  'horizontal-pod-autoscaler-cpu-initialization-period': only(['5m0s', '5m'], 'it is five minutes'),
  'horizontal-pod-autoscaler-initial-readiness-delay': only('30s', 'it is thirty seconds'),
  'namespace-sync-period': fixedPace('namespaces are looked at when something changes'),
  'enable-taint-manager': only('true', 'pods are driven out by taints'),
  'node-monitor-period': fixedPace('nodes are looked at when something changes, and when their time is over'),
  'pod-eviction-timeout': no(
    'how long a pod stays on a lost node is in its tolerations; see --default-unreachable-toleration-seconds of the API server',
  ),
  'enable-dynamic-provisioning': only('true', 'claims are provisioned by the provisioner of their class'),
  'enable-hostpath-provisioner': no('choose the loop host-path-provisioner with --controllers'),
  ...all(
    'flex-volume-plugin-dir volume-host-allow-local-loopback volume-host-cidr-denylist',
    no('there are no volume plugins inside'),
  ),
  ...all(
    'pv-recycler-increment-timeout-nfs pv-recycler-minimum-timeout-hostpath pv-recycler-minimum-timeout-nfs pv-recycler-pod-template-filepath-hostpath pv-recycler-pod-template-filepath-nfs pv-recycler-timeout-increment-hostpath',
    no('volumes are not recycled; use the reclaim policy Delete or Retain'),
  ),
  'pvclaimbinder-sync-period': fixedPace('claims are looked at when something changes'),
  'concurrent-ttl-after-finished-syncs': fixedPace('the loop works on several objects at a time'),
  master: no('give the server in a kubeconfig, with --kubeconfig'),
}
