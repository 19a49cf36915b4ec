/**
 * Lists all endpoints, which respond to requests without storing objects. To add an endpoint, write its file and its
 * test, and add a line here.
 */
import type { Lookup, StoredType } from '../../api/model/lookup.ts'
import type { Endpoint } from '../registry/catalogue/endpoint.ts'
import type { Resource } from '../registry/catalogue/resource.ts'
import { accessQuestions } from './access-questions.ts'
import { accessReviews, type ReviewParts } from './access-reviews.ts'
import { type AdmissionControlParts, admissionControls } from './admission-controls.ts'
import { type AdmissionWebhookParts, admissionWebhooks } from './admission-webhooks.ts'
import { type AuditEventParts, auditEvents } from './audit-events.ts'
import { type Component, componentStatuses } from './component-statuses.ts'
import { deletionExplanation } from './deletion-explanation.ts'
import { nodeConnections } from './node-connections.ts'
import type { NodeConnector } from './node-connector.ts'
import { NodeUsage, type NodeUsageParts } from './node-usage.ts'
import { type HistoryParts, objectHistory } from './object-history.ts'
import { pastState } from './past-state.ts'
import { binding, podBinding } from './pod-binding.ts'
import { podConnections } from './pod-connections.ts'
import { podEviction } from './pod-eviction.ts'
import { podLog } from './pod-log.ts'
import { type PolicyReportEndpointParts, policyReports } from './policy-reports.ts'
import { resourceMetrics } from './resource-metrics.ts'
import { rulesReview } from './rules-review.ts'
import { type SelfSubjectReviewParts, selfSubjectReviews } from './self-subject-review.ts'
import { type ServiceAccountTokenParts, serviceAccountToken } from './service-account-token.ts'
import { serviceConnections } from './service-connections.ts'
import { type TokenReviewParts, tokenReview } from './token-review.ts'
import { type WebhookPreviewParts, webhookPreview } from './webhook-preview.ts'

export interface EndpointParts
  extends TokenReviewParts,
    ReviewParts,
    SelfSubjectReviewParts,
    ServiceAccountTokenParts,
    AdmissionControlParts,
    AdmissionWebhookParts,
    AuditEventParts,
    WebhookPreviewParts,
    PolicyReportEndpointParts,
    Pick<NodeUsageParts, 'caller'>,
    HistoryParts {
  readonly lookup: Lookup
  /** Finds network destinations for requests to nodes and pods. */
  readonly ways: NodeConnector
  /** Returns the storage version of a type, for endpoints that write stored objects. */
  readonly stored: (type: StoredType) => Resource
  /** The components whose health `componentstatuses` reports, such as the store. */
  readonly components: readonly Component[]
}

/** Returns all endpoints for the catalogue of served types. */
export function allEndpoints(parts: EndpointParts): Endpoint[] {
  const { lookup, ways, components } = parts
  return [
    tokenReview(parts),
    ...selfSubjectReviews(parts),
    serviceAccountToken(parts),
    binding(parts),
    podBinding(parts),
    podEviction(parts),
    ...accessReviews(parts),
    rulesReview(parts),
    ...accessQuestions(parts),
    podLog(lookup, ways),
    ...podConnections(lookup, ways, parts.emulation.gates),
    ...nodeConnections(ways),
    ...serviceConnections(lookup, ways),
    componentStatuses(components),
    admissionControls(parts),
    admissionWebhooks(parts),
    auditEvents(parts),
    webhookPreview(parts),
    policyReports(parts),
    deletionExplanation(parts),
    objectHistory(parts),
    pastState(parts),
    ...resourceMetrics({ lookup, vendor: parts.vendor, nodeUsage: new NodeUsage(parts) }),
  ]
}
