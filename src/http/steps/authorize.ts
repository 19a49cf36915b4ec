/** Asks whether the user may do this, before any of the body is read. */
import type { Authorizer, Decision } from '../../authz/authorizer.ts'
import { forbiddenError } from '../../model/api-error.ts'
import type { Exchange } from '../exchange.ts'
import type { Step } from '../pipeline.ts'

export function authorize(authorizer: Authorizer): Step {
  return (exchange) => {
    const decision = authorizer({ user: exchange.user, attributes: exchange.info })
    return decision instanceof Promise ? decision.then((later) => obey(exchange, later)) : obey(exchange, decision)
  }
}

function obey(exchange: Exchange, { verdict, reason }: Decision): void {
  if (verdict !== 'allow') throw refusal(exchange, reason)
}

function refusal({ user, info }: Exchange, reason: string): Error {
  const because = reason === '' ? '' : `: ${reason}`
  if (!info.resource)
    return forbiddenError(
      undefined,
      '',
      `forbidden: User "${user.name}" cannot ${info.verb} path "${info.path}"${because}`,
    )
  const { group, plural, subresource, name, namespace, verb } = info
  const what = subresource === '' ? plural : `${plural}/${subresource}`
  const scope = namespace === '' ? 'at the cluster scope' : `in the namespace "${namespace}"`
  const full = group === '' ? plural : `${plural}.${group}`
  const named = name === '' ? full : `${full} "${name}"`
  return forbiddenError(
    { group, plural },
    name,
    `${named} is forbidden: User "${user.name}" cannot ${verb} resource "${what}" in API group "${group}" ${scope}${because}`,
  )
}
