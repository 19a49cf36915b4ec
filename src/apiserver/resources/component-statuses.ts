/**
 * Reports the health of the components that this server depends on, checked on each request (`componentstatuses`). The
 * store is the only such component. Other cluster components, such as the scheduler, do not report to the server.
 */
import { type ComponentStatus, componentStatus } from '../../api/kinds/core/component-status.ts'
import { notFound } from '../../api/model/api-error.ts'
import type { ApiObject } from '../../api/model/object.ts'
import type { Endpoint } from '../registry/catalogue/endpoint.ts'

/** A component whose health is reported, such as the store. */
export interface Component {
  readonly name: string
  /** Checks the component. Returns a description of the problem, or undefined if the component is healthy. */
  readonly check: () => string | undefined | Promise<string | undefined>
}

/** The resource name in error responses. Kubernetes clients expect the singular. */
const componentsRef = { group: '', plural: 'componentstatus' }

export function componentStatuses(components: readonly Component[]): Endpoint {
  return {
    kind: componentStatus,
    subresource: '',
    verbs: ['get', 'list'],
    type: undefined,
    admits: undefined,
    doc: 'Reports the health of the components on which the server depends.',
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
