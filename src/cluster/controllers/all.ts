/** The table of control loops: every loop that `--controllers` accepts, sorted by name. */

import { clusterInfo } from '../../api/model/bootstrap-token.ts'
import {
  attributesClassProtection,
  claimProtection,
  serviceCidrProtection,
  volumeProtection,
} from '../../api/model/protection.ts'
import * as kinds from '../../client/requests/built-in-kinds.ts'
import { inDomainOf } from '../../client/requests/resource-type.ts'
import { autoscalingLoop, defaultAutoscaling } from './autoscaling/horizontal-pod-autoscaling.ts'
import { bootstrapSignerLoop } from './bootstrap-signer.ts'
import { tokenSelection } from './bootstrap-token-secrets.ts'
import { clusterRoleAggregationLoop } from './cluster-role-aggregation.ts'
import type { ControlLoop } from './control-loop.ts'
import { csrApprovingLoop } from './csr-approving.ts'
import { csrCleanerLoop } from './csr-cleaner.ts'
import { csrSigningLoop } from './csr-signing.ts'
import { disruptionLoop } from './disruption.ts'
import { endpointLoop } from './endpoints/endpoint.ts'
import { endpointSliceLoop } from './endpoints/endpoint-slice.ts'
import { endpointSliceMirroringLoop } from './endpoints/endpoint-slice-mirroring.ts'
import { ephemeralVolumeLoop } from './ephemeral-volume.ts'
import { garbageCollectorLoop } from './garbage-collector/garbage-collector.ts'
import { cronJobLoop } from './jobs/cron-job.ts'
import { jobLoop } from './jobs/job.ts'
import { releasedPodsLoop } from './jobs/released-pods.ts'
import { defaultUnusedTokenMs, legacyTokenCleanerLoop } from './legacy-token-cleaner.ts'
import { namespaceLoop } from './namespace.ts'
import { nodeIpamLoop } from './nodes/node-ipam.ts'
import { defaultNodeHealth, nodeLeaseNamespace, nodeLifecycleLoop } from './nodes/node-lifecycle.ts'
import { taintKey } from './nodes/node-taints.ts'
import { nodeTtlLoop } from './nodes/node-ttl.ts'
import { podGcLoop } from './nodes/pod-gc.ts'
import { simulationRulesLoop } from './nodes/simulation-rules.ts'
import { policyStatusLoop } from './policies/policy-status.ts'
import { claimCreationLoop } from './resource-claims/claim-creation.ts'
import { claimReleaseLoop } from './resource-claims/claim-release.ts'
import { resourceQuotaLoop } from './resource-quota.ts'
import { rootCaName, rootCaPublisherLoop } from './root-ca-publisher.ts'
import { makeScheduler } from './scheduler.ts'
import { serviceAccountLoop } from './service-account.ts'
import { tokenSecretLoop, tokenSecretType } from './service-account-secret.ts'
import { serviceCidrLoop } from './service-cidrs.ts'
import { staleDisruptionLoop } from './stale-disruption.ts'
import { attributesClassProtectionLoop, claimProtectionLoop, volumeProtectionLoop } from './storage-protection.ts'
import { storageVersionMigratorLoop } from './storage-version-migrator.ts'
import { tokenCleanerLoop } from './token-cleaner.ts'
import { ttlAfterFinishedLoop } from './ttl-after-finished.ts'
import { attachDetachLoop } from './volumes/attach-detach.ts'
import { volumeBinderLoop } from './volumes/binder.ts'
import { volumeExpanderLoop } from './volumes/expander.ts'
import { hostPathProvisionerLoop } from './volumes/host-path-provisioner.ts'
import { daemonSetLoop } from './workloads/daemonset/daemonset.ts'
import { deploymentLoop } from './workloads/deployment/deployment.ts'
import { replicaSetLoop, replicationControllerLoop } from './workloads/replica-loop.ts'
import { statefulSetLoop } from './workloads/statefulset/statefulset.ts'

/** The control loops that `--controllers` can select, sorted by name. */
export const controlLoops: readonly ControlLoop[] = [
  {
    name: 'attachdetach',
    account: 'attachdetach-controller',
    make: ({ client, recorder, informer, vendor, clock }) =>
      attachDetachLoop({
        client,
        recorder,
        vendor,
        clock,
        pods: informer(kinds.Pod),
        nodes: informer(kinds.Node),
        claims: informer(kinds.PersistentVolumeClaim),
        volumes: informer(kinds.PersistentVolume),
        attachments: informer(inDomainOf(vendor, kinds.VolumeAttachment)),
        drivers: informer(inDomainOf(vendor, kinds.CSIDriver)),
      }),
  },
  {
    name: 'bootstrapsigner',
    onByDefault: false,
    account: 'bootstrap-signer',
    make: ({ client, informer, vendor, clock }) => {
      const { namespace, name } = clusterInfo
      return bootstrapSignerLoop({
        client,
        vendor,
        clock,
        tokens: informer(kinds.Secret, tokenSelection(vendor)),
        configMaps: informer(kinds.ConfigMap, { namespace, fieldSelector: `metadata.name=${name}` }),
      })
    },
  },
  {
    name: 'clusterrole-aggregation',
    account: 'clusterrole-aggregation-controller',
    make: ({ client, informer, vendor }) =>
      clusterRoleAggregationLoop({ client, informer: informer(inDomainOf(vendor, kinds.ClusterRole)) }),
  },
  {
    name: 'cronjob',
    account: 'cronjob-controller',
    cluster: true,
    make: ({ client, recorder, informer, vendor, clock, emulation }) =>
      cronJobLoop({
        client,
        recorder,
        clock,
        vendor,
        emulation,
        cronJobs: informer(kinds.CronJob),
        jobs: informer(kinds.Job),
      }),
  },
  {
    name: 'csrapproving',
    account: 'certificate-controller',
    make: ({ client, informer, vendor, clock }) =>
      csrApprovingLoop({
        client,
        vendor,
        clock,
        informer: informer(inDomainOf(vendor, kinds.CertificateSigningRequest)),
      }),
  },
  {
    name: 'csrcleaner',
    account: 'certificate-controller',
    make: ({ client, informer, vendor, clock }) =>
      csrCleanerLoop({
        client,
        vendor,
        clock,
        informer: informer(inDomainOf(vendor, kinds.CertificateSigningRequest)),
      }),
  },
  {
    name: 'csrsigning',
    account: 'certificate-controller',
    make: ({ client, informer, vendor, clock, options: { signing } }) => {
      if (signing === undefined)
        return { notRunning: 'no signing CA; set --cluster-signing-cert-file and --cluster-signing-key-file' }
      return csrSigningLoop({
        client,
        vendor,
        clock,
        informer: informer(inDomainOf(vendor, kinds.CertificateSigningRequest)),
        ...signing,
      })
    },
  },
  {
    name: 'daemonset',
    account: 'daemon-set-controller',
    eventSource: 'daemonset-controller',
    cluster: true,
    make: ({ client, recorder, informer, vendor, clock }) =>
      daemonSetLoop({
        client,
        recorder,
        vendor,
        clock,
        sets: informer(kinds.DaemonSet),
        pods: informer(kinds.Pod),
        nodes: informer(kinds.Node),
        revisions: informer(kinds.ControllerRevision),
      }),
  },
  {
    name: 'deployment',
    account: 'deployment-controller',
    cluster: true,
    syncs: { flag: 'deployment', default: 5 },
    make: ({ client, recorder, informer, vendor, clock }) =>
      deploymentLoop({
        client,
        recorder,
        vendor,
        clock,
        deployments: informer(kinds.Deployment),
        replicaSets: informer(kinds.ReplicaSet),
        pods: informer(kinds.Pod),
      }),
  },
  {
    name: 'disruption',
    account: 'disruption-controller',
    eventSource: 'controllermanager',
    cluster: true,
    make: ({ client, recorder, informer, clock, emulation }) => [
      disruptionLoop({
        client,
        recorder,
        clock,
        budgets: informer(kinds.PodDisruptionBudget),
        pods: informer(kinds.Pod),
        replicaSets: informer(kinds.ReplicaSet),
        scaled: {
          '/ReplicationController': informer(kinds.ReplicationController),
          'apps/Deployment': informer(kinds.Deployment),
          'apps/StatefulSet': informer(kinds.StatefulSet),
        },
      }),
      ...(emulation.gates.has('PodDisruptionConditions')
        ? [staleDisruptionLoop({ client, clock, pods: informer(kinds.Pod) })]
        : []),
    ],
  },
  {
    name: 'endpoint',
    account: 'endpoint-controller',
    cluster: true,
    syncs: { flag: 'endpoint', default: 5 },
    make: ({ client, recorder, informer, vendor, options: { endpointBatchMs = 0 } }) =>
      endpointLoop({
        client,
        recorder,
        vendor,
        batchMs: endpointBatchMs,
        services: informer(kinds.Service),
        pods: informer(kinds.Pod),
        endpoints: informer(kinds.Endpoints),
      }),
  },
  {
    name: 'endpointslice',
    account: 'endpointslice-controller',
    eventSource: 'endpoint-slice-controller',
    cluster: true,
    syncs: { flag: 'service-endpoint', default: 5 },
    make: ({ client, recorder, informer, vendor, clock, options: { sliceBatchMs = 0, maxEndpointsPerSlice = 100 } }) =>
      endpointSliceLoop({
        client,
        recorder,
        vendor,
        clock,
        batchMs: sliceBatchMs,
        maxPerSlice: maxEndpointsPerSlice,
        services: informer(kinds.Service),
        pods: informer(kinds.Pod),
        nodes: informer(kinds.Node),
        slices: informer(inDomainOf(vendor, kinds.EndpointSlice)),
      }),
  },
  {
    name: 'endpointslicemirroring',
    account: 'endpointslicemirroring-controller',
    eventSource: 'endpoint-slice-mirroring-controller',
    cluster: true,
    make: ({ client, recorder, informer, vendor, clock, options: { mirroringBatchMs = 0, maxMirrored = 1000 } }) =>
      endpointSliceMirroringLoop({
        client,
        recorder,
        vendor,
        clock,
        batchMs: mirroringBatchMs,
        maxPerSubset: maxMirrored,
        services: informer(kinds.Service),
        endpoints: informer(kinds.Endpoints),
        slices: informer(inDomainOf(vendor, kinds.EndpointSlice)),
      }),
  },
  {
    name: 'ephemeral-volume',
    account: 'ephemeral-volume-controller',
    eventSource: 'ephemeral_volume',
    syncs: { flag: 'ephemeralvolume', default: 5 },
    make: ({ client, recorder, informer }) =>
      ephemeralVolumeLoop({
        client,
        recorder,
        pods: informer(kinds.Pod),
        claims: informer(kinds.PersistentVolumeClaim),
      }),
  },
  {
    name: 'garbagecollector',
    account: 'generic-garbage-collector',
    eventSource: 'garbage-collector-controller',
    syncs: { flag: 'gc', default: 20 },
    make: ({ client, clock, log, recorder }) => garbageCollectorLoop({ client, clock, log, recorder }),
  },
  {
    name: 'horizontalpodautoscaling',
    account: 'horizontal-pod-autoscaler',
    cluster: true,
    make: ({ client, recorder, informer, vendor, clock, options: { autoscaling = defaultAutoscaling } }) =>
      autoscalingLoop({
        client,
        recorder,
        vendor,
        clock,
        ...autoscaling,
        autoscalers: informer(kinds.HorizontalPodAutoscaler),
      }),
  },
  {
    name: 'host-path-provisioner',
    account: 'persistent-volume-binder',
    eventSource: 'persistentvolume-controller',
    make: ({ client, recorder, informer, vendor, options: { volumeDirectory: directory } }) => {
      if (directory === undefined) return { notRunning: 'no volume directory; set --volume-directory' }
      const objects = {
        claims: informer(kinds.PersistentVolumeClaim),
        volumes: informer(kinds.PersistentVolume),
        classes: informer(inDomainOf(vendor, kinds.StorageClass)),
      }
      return hostPathProvisionerLoop({ client, recorder, vendor, directory, ...objects })
    },
  },
  {
    name: 'job',
    account: 'job-controller',
    cluster: true,
    make: ({ client, recorder, informer, vendor, clock, emulation }) => [
      jobLoop({ client, recorder, vendor, clock, emulation, jobs: informer(kinds.Job), pods: informer(kinds.Pod) }),
      releasedPodsLoop({ client, vendor, jobs: informer(kinds.Job), pods: informer(kinds.Pod) }),
    ],
  },
  {
    name: 'legacy-service-account-token-cleaner',
    account: 'legacy-service-account-token-cleaner',
    since: '1.28',
    gate: 'LegacyServiceAccountTokenCleanUp',
    make: ({ client, informer, vendor, clock, options: { unusedTokenMs: periodMs = defaultUnusedTokenMs } }) =>
      legacyTokenCleanerLoop({
        client,
        vendor,
        clock,
        periodMs,
        tokens: informer(kinds.Secret, { fieldSelector: `type=${tokenSecretType(vendor)}` }),
        accounts: informer(kinds.ServiceAccount),
        pods: informer(kinds.Pod),
      }),
  },
  {
    name: 'namespace',
    account: 'namespace-controller',
    syncs: { flag: 'namespace', default: 10 },
    make: ({ client, informer, vendor, clock }) =>
      namespaceLoop({ client, informer: informer(kinds.Namespace), finalizer: vendor.namespaceFinalizer, clock }),
  },
  {
    name: 'nodeipam',
    account: 'node-controller',
    eventSource: 'cidrAllocator',
    cluster: true,
    make: ({ client, recorder, informer, options: { podRanges } }) => {
      if (podRanges === undefined)
        return { notRunning: 'requires --allocate-node-cidrs and --cluster-cidr', isUsual: true }
      return nodeIpamLoop({ client, recorder, nodes: informer(kinds.Node), ...podRanges })
    },
  },
  {
    name: 'nodelifecycle',
    account: 'node-controller',
    cluster: true,
    make: ({ client, recorder, informer, vendor, emulation, clock, options: { nodeHealth = defaultNodeHealth } }) =>
      nodeLifecycleLoop({
        client,
        recorder,
        vendor,
        clock,
        recordsDisruption: emulation.gates.has('PodDisruptionConditions'),
        ...nodeHealth,
        nodes: informer(kinds.Node),
        pods: informer(kinds.Pod),
        leases: informer(inDomainOf(vendor, kinds.Lease), { namespace: nodeLeaseNamespace }),
      }),
  },
  {
    name: 'persistentvolume-binder',
    account: 'persistent-volume-binder',
    eventSource: 'persistentvolume-controller',
    make: ({ client, recorder, informer, vendor, clock }) => {
      const objects = {
        claims: informer(kinds.PersistentVolumeClaim),
        volumes: informer(kinds.PersistentVolume),
        classes: informer(inDomainOf(vendor, kinds.StorageClass)),
        pods: informer(kinds.Pod),
      }
      return volumeBinderLoop({ client, recorder, vendor, clock, ...objects })
    },
  },
  {
    name: 'persistentvolume-expander',
    account: 'expand-controller',
    eventSource: 'volume_expand',
    make: ({ client, recorder, informer, vendor, clock }) =>
      volumeExpanderLoop({
        client,
        recorder,
        vendor,
        clock,
        claims: informer(kinds.PersistentVolumeClaim),
        volumes: informer(kinds.PersistentVolume),
      }),
  },
  {
    name: 'podgc',
    account: 'pod-garbage-collector',
    cluster: true,
    make: ({ client, informer, vendor, emulation, clock, options: { maxEndedPods = 12_500 } }) =>
      podGcLoop({
        client,
        clock,
        recordsDisruption: emulation.gates.has('PodDisruptionConditions'),
        outOfServiceKey: emulation.gates.has('NodeOutOfServiceVolumeDetach')
          ? taintKey(vendor, 'out-of-service')
          : undefined,
        pods: informer(kinds.Pod),
        nodes: informer(kinds.Node),
        maxEnded: maxEndedPods,
      }),
  },
  {
    name: 'pv-protection',
    account: 'pv-protection-controller',
    make: ({ client, informer, vendor }) =>
      volumeProtectionLoop({ client, informer: informer(kinds.PersistentVolume), finalizer: volumeProtection(vendor) }),
  },
  {
    name: 'pvc-protection',
    account: 'pvc-protection-controller',
    make: ({ client, informer, vendor }) =>
      claimProtectionLoop({
        client,
        informer: informer(kinds.PersistentVolumeClaim),
        finalizer: claimProtection(vendor),
      }),
  },
  {
    name: 'replicaset',
    account: 'replicaset-controller',
    cluster: true,
    syncs: { flag: 'replicaset', default: 5 },
    make: ({ client, recorder, informer, vendor, emulation, clock }) =>
      replicaSetLoop({
        client,
        recorder,
        vendor,
        clock,
        reportsTerminating: emulation.gates.has('DeploymentReplicaSetTerminatingReplicas'),
        owners: informer(kinds.ReplicaSet),
        pods: informer(kinds.Pod),
      }),
  },
  {
    name: 'replicationcontroller',
    account: 'replication-controller',
    cluster: true,
    syncs: { flag: 'rc', default: 5 },
    make: ({ client, recorder, informer, vendor, clock }) =>
      replicationControllerLoop({
        client,
        recorder,
        vendor,
        clock,
        reportsTerminating: false,
        owners: informer(kinds.ReplicationController),
        pods: informer(kinds.Pod),
      }),
  },
  {
    name: 'resourceclaim-controller',
    account: 'resource-claim-controller',
    eventSource: 'resource_claim',
    since: '1.34',
    gate: 'DynamicResourceAllocation',
    make: ({ client, recorder, informer, vendor }) => {
      const pods = informer(kinds.Pod)
      const claims = informer(inDomainOf(vendor, kinds.ResourceClaim))
      const templates = informer(inDomainOf(vendor, kinds.ResourceClaimTemplate))
      return [
        claimCreationLoop({ client, recorder, vendor, pods, claims, templates }),
        claimReleaseLoop({ client, vendor, pods, claims }),
      ]
    },
  },
  {
    name: 'resourcequota',
    account: 'resourcequota-controller',
    syncs: { flag: 'resource-quota', default: 5 },
    make: ({ client, informer, vendor, clock, options: { quotaSyncMs, whileStill } }) =>
      resourceQuotaLoop({
        client,
        informer: informer(kinds.ResourceQuota),
        vendor,
        clock,
        quietMs: quotaSyncMs,
        ...(whileStill === undefined ? {} : { whileStill }),
      }),
  },
  {
    name: 'root-ca-cert-publisher',
    account: 'root-ca-cert-publisher',
    make: ({ client, informer, vendor, options: { rootAuthority } }) => {
      if (rootAuthority === undefined) return { notRunning: 'no CA to publish; set --root-ca-file' }
      return rootCaPublisherLoop({
        client,
        vendor,
        authority: rootAuthority,
        namespaces: informer(kinds.Namespace),
        configMaps: informer(kinds.ConfigMap, { fieldSelector: `metadata.name=${rootCaName}` }),
      })
    },
  },
  {
    name: 'scheduler',
    cluster: true,
    account: 'kube-scheduler',
    roles: ['system:kube-scheduler', 'system:volume-scheduler'],
    make: makeScheduler,
  },
  {
    name: 'service-cidr-controller',
    account: 'service-cidrs-controller',
    since: '1.33',
    gate: 'MultiCIDRServiceAllocator',
    make: ({ client, informer, vendor, clock }) =>
      serviceCidrLoop({
        client,
        clock,
        ranges: informer(inDomainOf(vendor, kinds.ServiceCIDR)),
        addresses: inDomainOf(vendor, kinds.IPAddress),
        finalizer: serviceCidrProtection(vendor),
      }),
  },
  {
    name: 'serviceaccount',
    account: 'service-account-controller',
    make: ({ client, informer }) =>
      serviceAccountLoop({ client, namespaces: informer(kinds.Namespace), accounts: informer(kinds.ServiceAccount) }),
  },
  {
    name: 'serviceaccount-token',
    syncs: { flag: 'serviceaccount-token', default: 5 },
    make: ({ client, informer, vendor, options: { rootAuthority, issueToken, createTokenSecrets } }) => {
      if (issueToken === undefined)
        return { notRunning: 'no token signing key; set --service-account-private-key-file' }
      return tokenSecretLoop({
        client,
        vendor,
        accounts: informer(kinds.ServiceAccount),
        secrets: informer(kinds.Secret, { fieldSelector: `type=${tokenSecretType(vendor)}` }),
        authority: rootAuthority ?? (() => ''),
        issue: issueToken,
        ...(createTokenSecrets ? { makeSecrets: true } : {}),
      })
    },
  },
  {
    name: 'simulation-rules',
    account: 'simulation-controller',
    roles: ['system:ops-simulation-rules', 'system:ops-simulated-objects'],
    cluster: true,
    make: ({ recorder, informer, vendor }) =>
      simulationRulesLoop({
        recorder,
        vendor,
        rules: informer(inDomainOf(vendor, kinds.SimulationRule)),
        nodes: informer(kinds.Node),
        pods: informer(kinds.Pod),
      }),
  },
  {
    name: 'statefulset',
    account: 'statefulset-controller',
    cluster: true,
    syncs: { flag: 'statefulset', default: 5 },
    make: ({ client, recorder, informer, vendor, emulation, clock }) =>
      statefulSetLoop({
        client,
        recorder,
        vendor,
        emulation,
        clock,
        sets: informer(kinds.StatefulSet),
        pods: informer(kinds.Pod),
        claims: informer(kinds.PersistentVolumeClaim),
        revisions: informer(kinds.ControllerRevision),
      }),
  },
  {
    name: 'storage-version-migrator-controller',
    account: 'storage-version-migrator-controller',
    since: '1.35',
    gate: 'StorageVersionMigrator',
    make: ({ client, informer, vendor, clock }) =>
      storageVersionMigratorLoop({
        client,
        clock,
        migrations: informer(inDomainOf(vendor, kinds.StorageVersionMigration)),
      }),
  },
  {
    name: 'tokencleaner',
    onByDefault: false,
    account: 'token-cleaner',
    make: ({ client, informer, vendor, clock }) =>
      tokenCleanerLoop({ client, clock, informer: informer(kinds.Secret, tokenSelection(vendor)) }),
  },
  {
    name: 'ttl',
    account: 'ttl-controller',
    cluster: true,
    make: ({ client, informer, vendor }) => nodeTtlLoop({ client, vendor, nodes: informer(kinds.Node) }),
  },
  {
    name: 'ttl-after-finished',
    account: 'ttl-after-finished-controller',
    make: ({ client, informer, clock }) => ttlAfterFinishedLoop({ client, informer: informer(kinds.Job), clock }),
  },
  {
    name: 'validatingadmissionpolicy-status',
    account: 'validatingadmissionpolicy-status-controller',
    since: '1.30',
    make: ({ client, informer, vendor }) =>
      policyStatusLoop({ client, vendor, policies: informer(inDomainOf(vendor, kinds.ValidatingAdmissionPolicy)) }),
  },
  {
    name: 'volumeattributesclass-protection',
    account: 'volumeattributesclass-protection-controller',
    since: '1.34',
    gate: 'VolumeAttributesClass',
    make: ({ client, informer, vendor }) =>
      attributesClassProtectionLoop({
        client,
        informer: informer(inDomainOf(vendor, kinds.VolumeAttributesClass)),
        finalizer: attributesClassProtection(vendor),
      }),
  },
]
