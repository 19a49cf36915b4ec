/** A graph of an object, with all levels of its owners on the left and of its dependents on the right. */
import type { ApiObject, OwnerReference } from '../../../../api/model/object.ts'
import { ask } from '../core/access.ts'
import { type ConsoleContext, type Kinds, type Type, useConsoleContext } from '../core/kinds.ts'
import { objectAddress } from '../core/route.ts'
import { useAsked } from '../core/store.ts'
import { displayText } from '../core/text.ts'
import type { DeletionStatus, Dependent } from '../parts/deletion.tsx'
import { Card, Loading, Scrolling } from '../parts/display.tsx'
import { Failure } from '../parts/failure.tsx'
import type { ObjectView } from './object-view.ts'

interface Node {
  readonly key: string
  readonly kind: string
  readonly name: string
  readonly namespace?: string | undefined
  /** The type of the object. Undefined if the server does not serve the kind. */
  readonly type: Type | undefined
  readonly mark: string
}

/** A node of the graph, with the branches of its dependents. */
interface Branch {
  readonly node: Node
  childBranches: Branch[]
  /** Number of further dependents that the graph omits. */
  more: number
}

interface Graph {
  /** Owners by level, starting with the most distant. */
  readonly owners: readonly (readonly Node[])[]
  readonly self: Branch
}

const maxLevels = 4
/** Maximum number of dependents to show on all levels combined. The nearest ones are shown first. */
const maxDrawn = 40

export function ObjectRelations({ type, object }: ObjectView) {
  const consoleContext = useConsoleContext()
  const graphResult = useAsked(
    (signal) => readGraph(consoleContext, { type, object, signal }),
    [object.metadata.resourceVersion],
  )
  return (
    <Card title="Owners and dependents" wide>
      {graphResult.state === 'waiting' && <Loading />}
      {graphResult.state === 'failed' && <Failure error={graphResult.error} />}
      {graphResult.state === 'done' && <Drawn graph={graphResult.value} />}
    </Card>
  )
}

interface Start {
  readonly type: Type
  readonly object: ApiObject
  readonly signal: AbortSignal
}

async function readGraph(consoleContext: ConsoleContext, { type, object, signal }: Start): Promise<Graph> {
  const { namespace, name = '' } = object.metadata
  const node = { key: keyOf(object.kind, namespace, name), kind: object.kind, name, namespace, type, mark: '' }
  const [owners, self] = await Promise.all([
    readOwners(consoleContext, object, signal),
    readDependents(consoleContext, { ...node, mark: 'this object' }),
  ])
  return { owners, self }
}

/** Reads the owners level by level. The chain ends at owners that cannot be read. */
async function readOwners(
  { client, kinds }: ConsoleContext,
  object: ApiObject,
  signal: AbortSignal,
): Promise<Node[][]> {
  const levels: Node[][] = []
  let childBranches: readonly ApiObject[] = [object]
  for (let level = 0; level < maxLevels && childBranches.length > 0; level++) {
    const nodes = childBranches.flatMap(({ metadata }) =>
      (metadata.ownerReferences ?? []).map((reference) => ownerNode(kinds, reference, metadata.namespace)),
    )
    if (nodes.length === 0) break
    levels.unshift(nodes)
    const read = nodes.map(async ({ type, namespace, name }) => {
      if (type === undefined) return undefined
      const place = namespace === undefined ? { name } : { namespace, name }
      return await client.get(type, place, { signal }).catch(() => undefined)
    })
    childBranches = (await Promise.all(read)).filter((each) => each !== undefined)
  }
  return levels
}

/**
 * Reads the dependents level by level. If a request fails, the dependents of that object are not shown. If the request
 * for the object itself fails, an error is thrown.
 */
async function readDependents(consoleContext: ConsoleContext, self: Node): Promise<Branch> {
  const root: Branch = { node: self, childBranches: [], more: 0 }
  const drawnKeys = new Set([self.key])
  let level: readonly Branch[] = [root]
  for (let depth = 0; depth < maxLevels && level.length > 0; depth++) {
    const graphResult = level.map(({ node }) =>
      node === self ? explain(consoleContext, node) : explain(consoleContext, node).catch(() => ({})),
    )
    const answers: readonly Partial<DeletionStatus>[] = await Promise.all(graphResult)
    for (const [i, branch] of level.entries())
      addBelow(branch, answers[i] ?? {}, { kinds: consoleContext.kinds, drawnKeys })
    level = level.flatMap(({ childBranches }) => childBranches)
  }
  return root
}

async function explain(
  consoleContext: ConsoleContext,
  { type, namespace, name }: Node,
): Promise<Partial<DeletionStatus>> {
  if (type === undefined) return {}
  const spec = { group: type.group, resource: type.plural, namespace, name }
  return await ask<DeletionStatus>(consoleContext, 'deletionexplanations', spec)
}

interface Drawing {
  readonly kinds: Kinds
  /** Keys of the objects that are already in the graph, because owner references may form cycles. */
  readonly drawnKeys: Set<string>
}

function addBelow(branch: Branch, answer: Partial<DeletionStatus>, { kinds, drawnKeys }: Drawing): void {
  const { dependents = [], dependentCount = dependents.length } = answer
  for (const dependent of dependents) {
    const node = dependentNode(kinds, dependent)
    if (drawnKeys.size > maxDrawn || drawnKeys.has(node.key)) continue
    drawnKeys.add(node.key)
    branch.childBranches.push({ node, childBranches: [], more: 0 })
  }
  branch.more = Math.max(0, dependentCount - branch.childBranches.length)
}

function ownerNode(kinds: Kinds, reference: OwnerReference, childNamespace: string | undefined): Node {
  const { apiVersion, kind, name, uid, controller } = reference
  const type = kinds.ofObject(apiVersion, kind)
  const namespace = type?.namespaced ? childNamespace : undefined
  return { key: uid, kind, name, namespace, type, mark: controller ? 'controller' : 'owner' }
}

function dependentNode(kinds: Kinds, { apiVersion = '', kind = '', namespace, name = '', blocks }: Dependent): Node {
  const type = kinds.ofObject(apiVersion, kind)
  const mark = blocks ? 'holds a foreground deletion' : ''
  return { key: keyOf(kind, namespace, name), kind, name, namespace, type, mark }
}

function keyOf(kind: string, namespace: string | undefined, name: string): string {
  return `${kind}/${namespace ?? ''}/${name}`
}

const boxWidth = 190
const boxHeight = 48
const gap = 12
const reach = 44
const edge = 8

interface Placed {
  readonly node: Node
  readonly x: number
  readonly y: number
}

interface Picture {
  readonly boxes: Placed[]
  readonly lines: [from: Placed, to: Placed][]
  readonly notes: { readonly text: string; readonly x: number; readonly y: number }[]
}

function Drawn({ graph: { owners, self } }: { readonly graph: Graph }) {
  const { boxes, lines, notes } = layOut(owners, self)
  const width = Math.max(...[...boxes, ...notes].map(({ x }) => x)) + boxWidth + edge
  const height = Math.max(...[...boxes, ...notes].map(({ y }) => y)) + boxHeight + edge
  return (
    <Scrolling label="Owners and dependents">
      <svg class="graph" width={width} height={height} viewBox={`0 0 ${width} ${height}`}>
        <title>Owners and dependents</title>
        {lines.map(([from, to]) => (
          <path key={`${from.node.key} ${to.node.key}`} class="graph-line" d={curve(from, to)} />
        ))}
        {boxes.map((placed) => (
          <Box key={placed.node.key} placed={placed} isSelf={placed.node === self.node} />
        ))}
        {notes.map(({ text, x, y }) => (
          <text key={`${x} ${y}`} class="graph-kind" x={x + 12} y={y + 28}>
            {text}
          </text>
        ))}
      </svg>
      {owners.length === 0 && self.childBranches.length === 0 && (
        <p class="hint">Nothing owns it, and it owns nothing that you may list.</p>
      )}
    </Scrolling>
  )
}

/**
 * Computes the positions, with one column per level. An object is vertically centered on its dependents, and the owners
 * are centered on the object.
 */
function layOut(owners: readonly (readonly Node[])[], self: Branch): Picture {
  const picture: Picture = { boxes: [], lines: [], notes: [] }
  const own = placeBranch(picture, self, { column: owners.length, rows: { used: 0 } })
  let right: readonly Placed[] = [own]
  for (const [column, level] of [...owners.entries()].reverse()) {
    const top = Math.max(edge, own.y - ((level.length - 1) * (boxHeight + gap)) / 2)
    const placed = level.map((node, row) => ({ node, x: columnX(column), y: top + row * (boxHeight + gap) }))
    for (const from of placed) picture.lines.push(...right.map((to): [Placed, Placed] => [from, to]))
    picture.boxes.push(...placed)
    right = placed
  }
  return picture
}

interface Spot {
  readonly column: number
  /** The next free row, counted from the top. Each object without dependents uses one row. */
  readonly rows: { used: number }
}

function placeBranch(picture: Picture, { node, childBranches, more }: Branch, { column, rows }: Spot): Placed {
  const x = columnX(column)
  const children = childBranches.map((each) => placeBranch(picture, each, { column: column + 1, rows }))
  if (more > 0)
    picture.notes.push({ text: `${more.toLocaleString('en')} more`, x: columnX(column + 1), y: rowY(rows.used++) })
  const first = children[0]
  const last = children.at(-1)
  const y = first && last ? (first.y + last.y) / 2 : rowY(more > 0 ? rows.used - 1 : rows.used++)
  const placed = { node, x, y }
  picture.boxes.push(placed)
  for (const child of children) picture.lines.push([placed, child])
  return placed
}

function columnX(column: number): number {
  return edge + column * (boxWidth + reach)
}

function rowY(row: number): number {
  return edge + row * (boxHeight + gap)
}

function curve(from: Placed, to: Placed): string {
  const x1 = from.x + boxWidth
  const y1 = from.y + boxHeight / 2
  const x2 = to.x
  const y2 = to.y + boxHeight / 2
  const middle = (x1 + x2) / 2
  return `M${x1} ${y1} C${middle} ${y1} ${middle} ${y2} ${x2} ${y2}`
}

function Box({ placed: { node, x, y }, isSelf }: { readonly placed: Placed; readonly isSelf: boolean }) {
  const { type, namespace, name, kind, mark } = node
  const box = (
    <g transform={`translate(${x} ${y})`} class={isSelf ? 'graph-box self' : 'graph-box'}>
      <title>{`${displayText(kind, 60)} ${displayText(name, 253)} ${mark}`}</title>
      <rect width={boxWidth} height={boxHeight} rx="8" />
      <text x="12" y="20" class="graph-kind">
        {displayText(kind, 24)}
      </text>
      <text x="12" y="38">
        {name.length > 24 ? `${displayText(name.slice(0, 23))}…` : displayText(name)}
      </text>
    </g>
  )
  return type === undefined || isSelf ? box : <a href={objectAddress(type, { namespace, name })}>{box}</a>
}
