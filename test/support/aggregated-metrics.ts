/** Serves the metrics API of the aggregated test server, which `kubectl top` reads, with one node and one pod. */
const timestamp = '2026-01-01T00:00:00Z'
const usage = { cpu: '250m', memory: '128Mi' }

/** Returns the response at a path of `metrics.k8s.io/v1beta1`, or undefined for other paths. */
export function metricsOf(path: string): object | undefined {
  const [, , group, version, ...rest] = path.split('/')
  if (group !== 'metrics.k8s.io') return undefined
  const apiVersion = `${group}/${version}`
  const item = (kind: string, metadata: object, more: object) => ({
    kind,
    apiVersion,
    metadata: { ...metadata, creationTimestamp: timestamp },
    timestamp,
    window: '30s',
    ...more,
  })
  const list = (kind: string, items: readonly object[]) => ({ kind: `${kind}List`, apiVersion, metadata: {}, items })
  const node = item('NodeMetrics', { name: 'n1' }, { usage })
  const containers = [{ name: 'c', usage }]
  const pod = item('PodMetrics', { name: 'p1', namespace: 'default' }, { containers })
  if (rest.join('/') === '') {
    const entry = (name: string, kind: string, namespaced: boolean) => ({
      name,
      singularName: '',
      namespaced,
      kind,
      verbs: ['get', 'list'],
    })
    const resources = [entry('nodes', 'NodeMetrics', false), entry('pods', 'PodMetrics', true)]
    return { kind: 'APIResourceList', apiVersion: 'v1', groupVersion: apiVersion, resources }
  }
  if (rest[0] === 'nodes') return rest.length === 1 ? list('NodeMetrics', [node]) : node
  return rest.at(-1) === 'pods' ? list('PodMetrics', [pod]) : pod
}
