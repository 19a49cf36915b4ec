/** Shows nodes as boxes that contain their pods as squares. Pods without a node are shown separately. */
import type { ComponentChildren } from 'preact'
import type { ApiObject } from '../../../../api/model/object.ts'
import { type Type, useConsoleContext } from '../core/kinds.ts'
import { useObjects } from '../core/objects.ts'
import { objectAddress } from '../core/route.ts'
import { displayText } from '../core/text.ts'
import { Chip, Loading, Notice, PageHead } from '../parts/display.tsx'
import { Failure } from '../parts/failure.tsx'
import { NamespaceField, useNamespace } from '../parts/namespace-field.tsx'

interface Pod extends ApiObject {
  spec?: { nodeName?: string }
  status?: { phase?: string; reason?: string; conditions?: { type?: string; status?: string }[] }
}

interface Node extends ApiObject {
  spec?: { unschedulable?: boolean }
  status?: { conditions?: { type?: string; status?: string }[] }
}

const maxPods = 2_000

/** Fields to request for each pod. */
const podFields = [
  ...['name', 'namespace', 'uid', 'resourceVersion'].map((name) => `metadata.${name}`),
  ...['spec.nodeName', 'status.phase'],
].join()

export function MapPage() {
  const { kinds } = useConsoleContext()
  const nodeType = kinds.builtIn('nodes', '')
  const podType = kinds.builtIn('pods', '')
  const namespace = useNamespace()
  const nodes = useObjects<Node>(nodeType)
  const pods = useObjects<Pod>(podType, { fields: podFields, ...(namespace !== '' && { namespace }) })
  const byNode = Map.groupBy(pods.objects.slice(0, maxPods), ({ spec }) => spec?.nodeName ?? '')
  const nodeNames = new Set(nodes.objects.map(({ metadata }) => metadata.name ?? ''))
  // If the user may not list nodes, only the nodes to which pods refer are known.
  const unknown = [...byNode.keys()].filter((name) => name !== '' && !nodeNames.has(name)).sort()
  const podsOn = (name = '') => byNode.get(name) ?? []
  const unplaced = podsOn('')
  const isSynced = nodes.synced && pods.synced
  return (
    <>
      <PageHead title="Nodes and pods">
        <span class="sub">
          {nodes.objects.length} {nodes.objects.length === 1 ? 'node' : 'nodes'}, {pods.objects.length}{' '}
          {pods.objects.length === 1 ? 'pod' : 'pods'}
        </span>
      </PageHead>
      <form class="filters" onSubmit={(event) => event.preventDefault()}>
        <NamespaceField />
      </form>
      {nodes.error !== undefined && <Failure error={nodes.error} />}
      {pods.error !== undefined && <Failure error={pods.error} />}
      {!isSynced && nodes.error === undefined && pods.error === undefined && <Loading />}
      {isSynced && nodes.objects.length === 0 && pods.objects.length === 0 && (
        <Notice title="There are no nodes and no pods">
          A node joins with the command that orch token create prints.
        </Notice>
      )}
      <p class="legend">
        {['Running', 'Pending', 'Succeeded', 'Failed', 'Unknown'].map((phase) => (
          <span key={phase}>
            <i class={`pod ${phase.toLowerCase()}`} aria-hidden="true" /> {phase}
          </span>
        ))}
      </p>
      <div class="cards map">
        {nodes.objects.map((node) => (
          <NodeCard key={node.metadata.uid} {...{ node, nodeType, podType }} pods={podsOn(node.metadata.name)} />
        ))}
        {unknown.map((name) => (
          <PodsCard key={name} title={displayText(name, 80)} type={podType} pods={podsOn(name)}>
            <Chip>{nodes.synced ? 'No such node' : 'Unknown node'}</Chip>
          </PodsCard>
        ))}
        {unplaced.length > 0 && <PodsCard title="Without a node" type={podType} pods={unplaced} />}
      </div>
      {pods.objects.length > maxPods && (
        <p class="hint">Only the first {maxPods.toLocaleString('en')} pods are drawn.</p>
      )}
    </>
  )
}

interface PodsCardProps {
  readonly title: ComponentChildren
  readonly type: Type | undefined
  readonly pods: readonly Pod[]
  readonly children?: ComponentChildren
}

function PodsCard({ title, type, pods, children }: PodsCardProps) {
  return (
    <section class="card">
      <header>
        <h2>{title}</h2>
        {children}
      </header>
      <Pods type={type} pods={pods} />
    </section>
  )
}

interface NodeCardProps {
  readonly node: Node
  readonly nodeType: Type | undefined
  readonly podType: Type | undefined
  readonly pods: readonly Pod[]
}

function NodeCard({ node, nodeType, podType, pods }: NodeCardProps) {
  const title = nodeType && <a href={objectAddress(nodeType, node.metadata)}>{displayText(node.metadata.name, 80)}</a>
  return (
    <PodsCard title={title} type={podType} pods={pods}>
      <Chip tone={isReady(node) ? 'good' : 'warn'}>{isReady(node) ? 'Ready' : 'Not ready'}</Chip>
      {node.spec?.unschedulable && <Chip tone="warn">cordoned</Chip>}
    </PodsCard>
  )
}

function isReady({ status }: Node): boolean {
  return (status?.conditions ?? []).some(({ type, status: value }) => type === 'Ready' && value === 'True')
}

function Pods({ type, pods }: { readonly type: Type | undefined; readonly pods: readonly Pod[] }) {
  if (type === undefined || pods.length === 0) return <p class="hint">No pods</p>
  return (
    <ul class="pods">
      {pods.map(({ metadata, status }) => {
        const phase = status?.phase ?? 'Unknown'
        const text = `${displayText(metadata.namespace, 80)}/${displayText(metadata.name, 80)}: ${displayText(phase, 30)}`
        return (
          <li key={metadata.uid}>
            <a class={`pod ${phaseClass(phase)}`} href={objectAddress(type, metadata)} title={text}>
              <span class="sr-only">{text}</span>
            </a>
          </li>
        )
      })}
    </ul>
  )
}

function phaseClass(phase: string): string {
  const knownPhases = ['running', 'pending', 'succeeded', 'failed']
  return knownPhases.find((each) => each === phase.toLowerCase()) ?? 'unknown'
}
