/**
 * Creates one variable for each key of a ConfigMap or Secret (`set env --from`). The variables refer to the keys, and
 * no values are copied.
 */

import type { ApiObject } from '../../../../api/model/object.ts'
import { compareUtf8 } from '../../../../base/collections/utf8-order.ts'
import { UsageError } from '../../../../base/flags/flags.ts'
import { readTargetWords } from '../../arguments/targets.ts'
import { objectNameIn, type Session } from '../../connection/session.ts'
import type { Variable } from './environment.ts'

interface WithData extends ApiObject {
  data?: { [key: string]: string }
}

interface From {
  readonly from: string
  readonly keys: string
  readonly prefix: string
}

export async function variablesFrom(session: Session | undefined, { from, keys, prefix }: From): Promise<Variable[]> {
  if (session === undefined)
    throw new UsageError('--from and --local are mutually exclusive: --from reads from the server')
  const [sourceWord, ...more] = readTargetWords([from])
  if (sourceWord?.name === undefined || more.length > 0)
    throw new UsageError('--from must be TYPE/NAME, such as configmap/settings')
  const type = await session.types.typeNamed(sourceWord.type)
  const reference = type.kind === 'ConfigMap' ? 'configMapKeyRef' : 'secretKeyRef'
  if (type.group !== '' || !['ConfigMap', 'Secret'].includes(type.kind))
    throw new UsageError(`unsupported resource specified in --from: ${type.kind}; use a configmap or a secret`)
  const { signal } = session.context
  const { data = {} } = (await session.client.get(type, objectNameIn(session, type, sourceWord.name), {
    signal,
  })) as WithData
  const selectedKeys = keys === '' ? undefined : keys.split(',')
  return Object.keys(data)
    .filter((key) => selectedKeys === undefined || selectedKeys.includes(key))
    .sort(compareUtf8)
    .map((key) => ({
      name: variableName(`${prefix}${key}`),
      valueFrom: { [reference]: { name: sourceWord.name!, key } },
    }))
}

/** Turns a key such as `log-level` into a variable name such as LOG_LEVEL. */
function variableName(key: string): string {
  return key.toUpperCase().replaceAll(/[^A-Z0-9_]/g, '_')
}
