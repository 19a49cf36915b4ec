/**
 * Explains admission: a client that sends `Explain-Admission: true` with a write receives details in the response
 * headers, even for a dry run. The headers contain the fields that each plugin changed (`Admission-Changes`), the
 * plugin that rejected the request (`Admission-Refused-By`), and the plugins and webhooks that ran, with their
 * durations and results (`Admission-Trace`). The user needs permission to `create` `admissionexplanations` in the group
 * `ops`, in the namespace of the request.
 */

import { badRequest } from '../../../api/model/api-error.ts'
import { groupName, type Vendor } from '../../../api/model/vendor.ts'
import { shorten } from '../../../base/text/shorten.ts'
import { AdmissionExplanation } from '../../admission/explanation.ts'
import type { Authorizer } from '../../authz/authorizer.ts'
import type { Step } from '../pipeline.ts'
import { assertAllowed } from './authorize.ts'

const asking = 'explain-admission'

/** Records admission details for permitted users who request them. */
export function explainAdmission(authorizer: Authorizer, vendor: Vendor): Step {
  const group = groupName(vendor, 'ops')
  return (exchange) => {
    const { info, user, headers } = exchange
    if (!info.resource || !isRequested(headers.first(asking))) return
    const attributes = {
      resource: true,
      verb: 'create',
      group,
      version: 'v1',
      plural: 'admissionexplanations',
    } as const
    const { namespace } = info
    exchange.explanation = new AdmissionExplanation()
    return assertAllowed(authorizer, { user, attributes: { ...attributes, subresource: '', namespace, name: '' } })
  }
}

function isRequested(value: string | undefined): boolean {
  if (value === undefined || value === 'false') return false
  if (value === 'true') return true
  throw badRequest(`the header Explain-Admission must be true or false, not ${JSON.stringify(shorten(value, 50))}`)
}
