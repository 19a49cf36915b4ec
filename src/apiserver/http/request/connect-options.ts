/** Reads the options of a connect subresource from the query, as in `pods/exec?command=ls&command=-l&tty=true`. */

import type { Json } from '../../../api/json/json.ts'
import { badRequest } from '../../../api/model/api-error.ts'
import type { ApiObject } from '../../../api/model/object.ts'
import type { Connection } from '../../registry/catalogue/endpoint.ts'
import { isTrue, type ResourceInfo } from './request-info.ts'

/**
 * Returns the query parameters as an options object, such as PodExecOptions, for admission plugins. The backend gets
 * all parameters unchanged.
 */
export function connectOptions({ kind, options, takesPath }: Connection, { query, below }: ResourceInfo): ApiObject {
  const sentOptions = Object.entries(options).filter(([name]) => query.has(name))
  return {
    apiVersion: 'v1',
    kind,
    metadata: {},
    ...Object.fromEntries(sentOptions.map(([name, type]) => [name, readers[type](query, name)])),
    ...(takesPath ? { path: `/${below}` } : {}),
  }
}

const readers = {
  text: (query, name) => query.get(name) ?? '',
  texts: (query, name) => query.getAll(name),
  flag: isTrue,
  numbers: (query, name) => query.getAll(name).map((text) => readNumber(text, name)),
} satisfies { readonly [type: string]: (query: URLSearchParams, name: string) => Json }

function readNumber(text: string, name: string): number {
  if (!/^-?\d{1,9}$/.test(text))
    throw badRequest(`${name} must be a whole number, not ${JSON.stringify(text.slice(0, 50))}`)
  return Number(text)
}
