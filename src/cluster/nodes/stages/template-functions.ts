/** The functions of stage templates that depend on the node and the pod. Templates for other kinds have no node. */
import { timestamp } from '../../../api/model/object.ts'
import { type NodeDescription, nodeConditions } from '../node-object.ts'
import { StageError } from './stage-error.ts'
import type { PlaceFunctions } from './template.ts'

/** The node, pod address and times that template functions return. */
export interface TemplatePlace {
  readonly node: NodeDescription | undefined
  /** Address of the pod, or '' in templates for nodes. */
  readonly podIp: string
  readonly now: number
  /** When this process started its nodes. */
  readonly startedAt: number
}

/**
 * Functions by name. As in KWOK, the functions whose names end in `With` accept the name of a node and properties of a
 * pod.
 */
const functionsByName: { readonly [name: string]: (place: TemplatePlace) => ReturnType<PlaceFunctions[string]> } = {
  Now: ({ now }) => timestamp(now),
  StartTime: ({ startedAt }) => timestamp(startedAt),
  NodeConditions: () => nodeConditions.map(([type, status, reason, message]) => ({ type, status, reason, message })),
  NodeIP: (place) => nodeOf(place).address,
  NodeIPWith: (place) => nodeOf(place).address,
  NodeName: (place) => nodeOf(place).name,
  NodePort: (place) => nodeOf(place).port(),
  PodIP: ({ podIp }) => podIp,
  PodIPWith: ({ podIp }) => podIp,
}

function nodeOf({ node }: TemplatePlace): NodeDescription {
  if (node === undefined)
    throw new StageError('template: node functions are available only in templates for pods and nodes')
  return node
}

export const templateFunctionNames: ReadonlySet<string> = new Set(Object.keys(functionsByName))

export function templateFunctions(place: TemplatePlace): PlaceFunctions {
  return Object.fromEntries(Object.entries(functionsByName).map(([name, call]) => [name, () => call(place)]))
}
