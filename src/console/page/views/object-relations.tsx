/** Owners above, dependents below: the objects that this one came from, and those that go with it, drawn as a graph. */
import type { ApiObject, OwnerReference } from '../../../model/object.ts'
import { ask } from '../core/access.ts'
import { type Kinds, type Surroundings, type Type, useSurroundings } from '../core/kinds.ts'
import { objectAddress } from '../core/route.ts'
import { useAsked } from '../core/store.ts'
import { shown } from '../core/text.ts'
import type { DeletionStatus, Dependent } from '../parts/deletion.tsx'
import { Failure } from '../parts/failure.tsx'
import { Card, Loading, Scrolling } from '../parts/shown.tsx'
import type { ObjectView } from './object-view.ts'

interface Node {
  readonly key: string
  readonly kind: string
  readonly name: string
  /** Undefined where its kind is not served. */
  readonly to: string | undefined
  readonly mark: string
}

interface Graph {
  /** From the farthest owners to the nearest. */
  readonly owners: readonly (readonly Node[])[]
  readonly dependents: readonly Node[]
  readonly more: number
}

const maxLevels = 4
const maxDrawn = 24

export function ObjectRelations({ type, object }: ObjectView) {
  const around = useSurroundings()
  const asked = useAsked((signal) => readGraph(around, { type, object, signal }), [object.metadata.resourceVersion])
  return (
    <Card title="Owners and dependents" wide>
      {asked.state === 'waiting' && <Loading />}
      {asked.state === 'failed' && <Failure error={asked.error} />}
      {asked.state === 'done' && <Drawn graph={asked.value} self={nodeOf(around.kinds, object, 'this object')} />}
    </Card>
  )
}

interface Start {
  readonly type: Type
  readonly object: ApiObject
  readonly signal: AbortSignal
}

async function readGraph(around: Surroundings, { type, object, signal }: Start): Promise<Graph> {
  const { namespace, name = '' } = object.metadata
  const spec = { group: type.group, resource: type.plural, namespace, name }
  const [owners, status] = await Promise.all([
    readOwners(around, object, signal),
    ask<DeletionStatus>(around, 'deletionexplanations', spec),
  ])
  const dependents = status.dependents ?? []
  return {
    owners,
    dependents: dependents.slice(0, maxDrawn).map((each) => dependentNode(around.kinds, each)),
    more: Math.max(0, (status.dependentCount ?? 0) - Math.min(maxDrawn, dependents.length)),
  }
}

/** Level by level; an owner that cannot be read ends its branch. */
async function readOwners({ client, kinds }: Surroundings, object: ApiObject, signal: AbortSignal): Promise<Node[][]> {
  const levels: Node[][] = []
  let below: readonly ApiObject[] = [object]
  for (let level = 0; level < maxLevels && below.length > 0; level++) {
    const named = below.flatMap(({ metadata }) =>
      (metadata.ownerReferences ?? []).map((reference) => ({ reference, namespace: metadata.namespace })),
    )
    if (named.length === 0) break
    levels.unshift(named.map(({ reference, namespace }) => ownerNode(kinds, reference, namespace)))
    const read = named.map(async ({ reference, namespace }) => {
      const type = kinds.ofObject(reference.apiVersion, reference.kind)
      if (type === undefined) return undefined
      const place =
        type.namespaced && namespace !== undefined ? { namespace, name: reference.name } : { name: reference.name }
      return await client.get(type, place, { signal }).catch(() => undefined)
    })
    below = (await Promise.all(read)).filter((each) => each !== undefined)
  }
  return levels
}

function ownerNode(
  kinds: Kinds,
  { apiVersion, kind, name, uid, controller }: OwnerReference,
  namespace: string | undefined,
): Node {
  const type = kinds.ofObject(apiVersion, kind)
  const to = type && objectAddress(type, { namespace: type.namespaced ? namespace : undefined, name })
  return { key: uid, kind, name, to, mark: controller ? 'controller' : 'owner' }
}

function dependentNode(kinds: Kinds, { apiVersion = '', kind = '', namespace, name = '', blocks }: Dependent): Node {
  const type = kinds.ofObject(apiVersion, kind)
  const to = type && objectAddress(type, { namespace, name })
  return { key: `${kind}/${namespace}/${name}`, kind, name, to, mark: blocks ? 'holds a foreground deletion' : '' }
}

function nodeOf(kinds: Kinds, { apiVersion, kind, metadata }: ApiObject, mark: string): Node {
  const type = kinds.ofObject(apiVersion, kind)
  return { key: metadata.uid ?? '', kind, name: metadata.name ?? '', to: type && objectAddress(type, metadata), mark }
}

const boxWidth = 190
const boxHeight = 56
const gap = 24
const rise = 56

/** Rows of boxes, each joined to the row below; the row of this object has one box. */
function Drawn({ graph: { owners, dependents, more }, self }: { readonly graph: Graph; readonly self: Node }) {
  const columns = 4
  const below = chunks(dependents, columns)
  const rows = [...owners, [self], ...below]
  const widest = Math.max(...rows.map((row) => row.length))
  const width = widest * (boxWidth + gap) + gap
  const height = rows.length * (boxHeight + rise) - rise + 2 * gap
  const ownRow = owners.length
  return (
    <Scrolling label="Owners and dependents">
      <svg class="graph" width={width} height={height} viewBox={`0 0 ${width} ${height}`}>
        <title>Owners and dependents</title>
        {rows.map((row, r) =>
          row.map((node, c) => {
            const from = r <= ownRow ? { row: r - 1, of: rows[r - 1] ?? [] } : { row: ownRow, of: [self] }
            return from.of.map((_, f) => (
              <path
                key={`${node.key} ${f}`}
                class="graph-line"
                d={curve(placeOf([from.row, f], from.of.length, width), placeOf([r, c], row.length, width))}
              />
            ))
          }),
        )}
        {rows.map((row, r) =>
          row.map((node, c) => (
            <Box key={node.key} node={node} place={placeOf([r, c], row.length, width)} isSelf={r === ownRow} />
          )),
        )}
      </svg>
      {more > 0 && <p class="hint">{more.toLocaleString('en')} more dependents</p>}
      {owners.length === 0 && dependents.length === 0 && (
        <p class="hint">Nothing owns it, and it owns nothing that you may list.</p>
      )}
    </Scrolling>
  )
}

interface Place {
  readonly x: number
  readonly y: number
}

function placeOf([row, column]: readonly [number, number], count: number, width: number): Place {
  const start = (width - count * boxWidth - (count - 1) * gap) / 2
  return { x: start + column * (boxWidth + gap), y: gap + row * (boxHeight + rise) }
}

function curve(from: Place, to: Place): string {
  const [x1, y1, x2, y2] = [from.x + boxWidth / 2, from.y + boxHeight, to.x + boxWidth / 2, to.y]
  const middle = (y1 + y2) / 2
  return `M${x1} ${y1} C${x1} ${middle} ${x2} ${middle} ${x2} ${y2}`
}

function Box({
  node,
  place: { x, y },
  isSelf,
}: {
  readonly node: Node
  readonly place: Place
  readonly isSelf: boolean
}) {
  const drawn = (
    <g transform={`translate(${x} ${y})`} class={isSelf ? 'graph-box self' : 'graph-box'}>
      <title>{`${node.kind} ${shown(node.name, 253)} ${node.mark}`}</title>
      <rect width={boxWidth} height={boxHeight} rx="8" />
      <text x="12" y="22" class="graph-kind">
        {shown(node.kind, 24)}
      </text>
      <text x="12" y="42">
        {node.name.length > 24 ? `${shown(node.name.slice(0, 23))}…` : shown(node.name)}
      </text>
    </g>
  )
  return node.to === undefined || isSelf ? drawn : <a href={node.to}>{drawn}</a>
}

function chunks<T>(list: readonly T[], size: number): T[][] {
  return Array.from({ length: Math.ceil(list.length / size) }, (_, i) => list.slice(i * size, (i + 1) * size))
}
