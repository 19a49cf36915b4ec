/**
 * `componentstatuses`: whether the parts that this server relies on are well, each asked at this moment. There is one
 * that it knows of, its store; whoever else is part of the cluster, such as a scheduler, does not tell it.
 */
import { type ComponentStatus, componentStatus } from '../../api/kinds/core/component-status.ts'
import { notFound } from '../../api/model/api-error.ts'
import type { ApiObject } from '../../api/model/object.ts'
import type { Endpoint } from '../registry/catalogue/endpoint.ts'

/** A part of the server, by the name that it is shown under. */
export interface Component {
  readonly name: string
  /** What is wrong with it; undefined when it is well. */
  readonly check: () => string | undefined | Promise<string | undefined>
}

/** As Statuses name them. */
const componentsRef = { group: '', plural: 'componentstatuses' }

export function componentStatuses(components: readonly Component[]): Endpoint {
  return {
    kind: componentStatus,
    subresource: '',
    verbs: ['get', 'list'],
    type: undefined,
    admits: undefined,
    doc: 'Reports whether the components that the server relies on are healthy.',
    answer: ({ verb, name }) => (verb === 'list' ? listAll(components) : showOne(components, name)),
  }
}

async function showOne(components: readonly Component[], name: string): Promise<ApiObject> {
  const component = components.find((each) => each.name === name)
  if (component === undefined) throw notFound(componentsRef, name)
  return { ...(await statusOf(component)), apiVersion: 'v1', kind: componentStatus.kind }
}

async function listAll(components: readonly Component[]): Promise<ApiObject> {
  const items = await Promise.all(components.map(statusOf))
  return { apiVersion: 'v1', kind: `${componentStatus.kind}List`, metadata: {}, items }
}

async function statusOf({ name, check }: Component): Promise<Pick<ComponentStatus, 'metadata' | 'conditions'>> {
  const fault = await check()
  const health = fault === undefined ? { status: 'True', message: 'ok' } : { status: 'False', error: fault }
  return { metadata: { name }, conditions: [{ type: 'Healthy', ...health }] }
}
