/** Lists the environment variables of containers as lines that a shell can read (`set env --list`). */

import { isObject, type Json, type JsonObject } from '../../../../api/json/json.ts'
import type { ApiObject } from '../../../../api/model/object.ts'
import { compareUtf8 } from '../../../../base/collections/utf8-order.ts'
import * as kinds from '../../../../client/requests/built-in-kinds.ts'
import type { ResourceType } from '../../../../client/requests/resource-type.ts'
import type { Session } from '../../connection/session.ts'
import { escapeLine } from '../../printers/escape.ts'
import { type Variable, variablesOf } from './environment.ts'
import { type Container, changeContainers, namesContainer } from './pod-spec.ts'

interface Listing {
  readonly containers: string
  readonly resolve: boolean
}

export async function listEnvironment(
  session: Session,
  object: ApiObject,
  { containers: pattern, resolve }: Listing,
): Promise<string> {
  const containers: Container[] = []
  changeContainers(object, (container) => {
    if (namesContainer(pattern, container.name)) containers.push(container)
    return container
  })
  const reader = resolve ? new References(session, object.metadata.namespace ?? session.namespace) : undefined
  const texts = await Promise.all(
    containers.map(async (container) => {
      const title = `# ${object.kind} ${object.metadata.name}, container ${container.name}`
      const lines = await Promise.all(variablesOf(container).map((variable) => lineOf(variable, reader)))
      return [title, ...lines].map((line) => `${escapeLine(line)}\n`).join('')
    }),
  )
  return texts.join('')
}

async function lineOf(variable: Variable, references: References | undefined): Promise<string> {
  const { name, value, valueFrom } = variable
  if (!isObject(valueFrom)) return `${name}=${value ?? ''}`
  const resolved = await references?.valueOf(valueFrom)
  return resolved === undefined ? `# ${name} from ${sourceText(valueFrom)}` : `${name}=${resolved}`
}

function sourceText(from: JsonObject): string {
  const { configMapKeyRef: map, secretKeyRef: secret, fieldRef, resourceFieldRef } = from
  if (isObject(map)) return `configmap ${stringOrEmpty(map.name)}, key ${stringOrEmpty(map.key)}`
  if (isObject(secret)) return `secret ${stringOrEmpty(secret.name)}, key ${stringOrEmpty(secret.key)}`
  if (isObject(fieldRef)) return `field path ${stringOrEmpty(fieldRef.fieldPath)}`
  if (isObject(resourceFieldRef)) return `resource field ${stringOrEmpty(resourceFieldRef.resource)}`
  return Object.keys(from).sort(compareUtf8).join(', ')
}

function stringOrEmpty(value: Json | undefined): string {
  return typeof value === 'string' ? value : ''
}

interface WithData extends ApiObject {
  data?: { [key: string]: string }
}

/** Resolves the values that variables refer to. Reads each object once. */
class References {
  readonly #session: Session
  readonly #namespace: string
  readonly #readObjects = new Map<string, Promise<WithData>>()

  constructor(session: Session, namespace: string) {
    this.#session = session
    this.#namespace = namespace
  }

  /** Returns the value of a reference, or undefined if only a running pod knows the value. */
  async valueOf({ configMapKeyRef: map, secretKeyRef: secret }: JsonObject): Promise<string | undefined> {
    if (isObject(map))
      return (await this.#ask(kinds.ConfigMap, stringOrEmpty(map.name))).data?.[stringOrEmpty(map.key)] ?? ''
    if (!isObject(secret)) return undefined
    const value = (await this.#ask(kinds.Secret, stringOrEmpty(secret.name))).data?.[stringOrEmpty(secret.key)] ?? ''
    return Buffer.from(value, 'base64').toString('utf8')
  }

  #ask(type: ResourceType, name: string): Promise<WithData> {
    const key = `${type.plural}/${name}`
    let readObjects = this.#readObjects.get(key)
    if (readObjects === undefined) {
      const { client, context } = this.#session
      readObjects = client.get(type, { namespace: this.#namespace, name }, { signal: context.signal })
      this.#readObjects.set(key, readObjects)
    }
    return readObjects
  }
}
