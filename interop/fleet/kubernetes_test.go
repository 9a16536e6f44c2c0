// Package fleet holds what examples/fleet has for those who run agents: Kubernetes manifests and a compose file, read strictly with the
// types of Kubernetes and of Compose, and the configuration of nginx, by which a stream passes. Their modules are downloaded for it.
package fleet

import (
	"bytes"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	appsv1 "k8s.io/api/apps/v1"
	autoscalingv2 "k8s.io/api/autoscaling/v2"
	corev1 "k8s.io/api/core/v1"
	networkingv1 "k8s.io/api/networking/v1"
	policyv1 "k8s.io/api/policy/v1"
	"sigs.k8s.io/yaml"
)

const example = "../../examples/fleet"

// kinds are the kinds of the manifests, as "apiVersion/kind".
var kinds = map[string]any{
	"v1/Secret":                              corev1.Secret{},
	"v1/ConfigMap":                           corev1.ConfigMap{},
	"v1/Service":                             corev1.Service{},
	"apps/v1/Deployment":                     appsv1.Deployment{},
	"policy/v1/PodDisruptionBudget":          policyv1.PodDisruptionBudget{},
	"autoscaling/v2/HorizontalPodAutoscaler": autoscalingv2.HorizontalPodAutoscaler{},
	"networking.k8s.io/v1/Ingress":           networkingv1.Ingress{},
}

// decode reads a manifest into the type of its kind. A field that the type does not have is an error.
func decode(t *testing.T, doc []byte) any {
	t.Helper()
	var head struct{ APIVersion, Kind string }
	if err := yaml.Unmarshal(doc, &head); err != nil {
		t.Fatalf("%v in\n%s", err, doc)
	}
	kind, ok := kinds[head.APIVersion+"/"+head.Kind]
	if !ok {
		t.Fatalf("%s/%s is a kind that this test does not know", head.APIVersion, head.Kind)
	}
	v := reflect.New(reflect.TypeOf(kind))
	if err := yaml.UnmarshalStrict(doc, v.Interface()); err != nil {
		t.Errorf("%s: %v", head.Kind, err)
	}
	return v.Interface()
}

// manifests returns all manifests of the example.
func manifests(t *testing.T) (all []any) {
	t.Helper()
	names, err := filepath.Glob(example + "/kubernetes/*.yaml")
	if err != nil || len(names) == 0 {
		t.Fatal("there are no manifests", err)
	}
	for _, name := range names {
		text, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		for doc := range bytes.SplitSeq(text, []byte("\n---\n")) {
			all = append(all, decode(t, doc))
		}
	}
	return all
}

// only returns the manifest of a type, of which there is one.
func only[T any](t *testing.T, all []any) (found *T) {
	t.Helper()
	for _, one := range all {
		if v, ok := one.(*T); ok {
			if found != nil {
				t.Fatalf("there are two of %T", found)
			}
			found = v
		}
	}
	if found == nil {
		t.Fatalf("there is none of %T", found)
	}
	return found
}

func TestAMisspeltFieldOfAManifestIsFound(t *testing.T) {
	var d appsv1.Deployment
	if err := yaml.UnmarshalStrict([]byte("spec: {template: {spec: {containers: [{name: a, readynessProbe: {}}]}}}"), &d); err == nil {
		t.Error("it is not")
	}
}

func TestManifestsBelongTogether(t *testing.T) {
	all := manifests(t)
	d := only[appsv1.Deployment](t, all)
	pods := d.Spec.Template
	for what, selector := range map[string]map[string]string{
		"Deployment":          d.Spec.Selector.MatchLabels,
		"Service":             only[corev1.Service](t, all).Spec.Selector,
		"PodDisruptionBudget": only[policyv1.PodDisruptionBudget](t, all).Spec.Selector.MatchLabels,
		"topology":            pods.Spec.TopologySpreadConstraints[0].LabelSelector.MatchLabels,
	} {
		if !reflect.DeepEqual(selector, pods.Labels) {
			t.Errorf("the selector of the %s is %v, and the pods have %v", what, selector, pods.Labels)
		}
	}
	hpa := only[autoscalingv2.HorizontalPodAutoscaler](t, all).Spec
	if hpa.ScaleTargetRef.Name != d.Name || hpa.ScaleTargetRef.Kind != d.Kind || hpa.ScaleTargetRef.APIVersion != d.APIVersion {
		t.Errorf("the autoscaler is for %v", hpa.ScaleTargetRef)
	}
	if d.Spec.Replicas != nil {
		t.Error("the autoscaler and the Deployment both say how many replicas there are")
	}
	service := only[corev1.Service](t, all)
	if to := only[networkingv1.Ingress](t, all).Spec.Rules[0].HTTP.Paths[0].Backend.Service; to.Name != service.Name || to.Port.Name != service.Spec.Ports[0].Name {
		t.Errorf("the Ingress leads to %v", to)
	}
	names := map[string]bool{only[corev1.Secret](t, all).Name: true}
	for _, one := range all {
		if c, ok := one.(*corev1.ConfigMap); ok {
			names[c.Name] = true
		}
	}
	for _, from := range pods.Spec.Containers[0].EnvFrom {
		if s := from.SecretRef; s != nil && !names[s.Name] {
			t.Errorf("there is no Secret %s", s.Name)
		}
		if c := from.ConfigMapRef; c != nil && !names[c.Name] {
			t.Errorf("there is no ConfigMap %s", c.Name)
		}
	}
	for _, one := range all {
		if c, ok := one.(*corev1.ConfigMap); ok && strings.Contains(c.Data["A2A_STORE"], "@") {
			if user, _, _ := strings.Cut(strings.TrimPrefix(c.Data["A2A_STORE"], "postgres://"), "@"); strings.Contains(user, ":") {
				t.Error("the address has a password, in a ConfigMap")
			}
		}
	}
}

// TestAReplicaLeavesInPeace: it is asked for by probes at a port that it has, restarted for nothing that a restart does not help, and has
// the time that the agent takes to shut down.
func TestAReplicaLeavesInPeace(t *testing.T) {
	d := only[appsv1.Deployment](t, manifests(t))
	pod, c := d.Spec.Template.Spec, d.Spec.Template.Spec.Containers[0]
	port := c.Ports[0].Name
	for path, probes := range map[string][]*corev1.Probe{
		"/readyz": {c.ReadinessProbe}, "/healthz": {c.StartupProbe, c.LivenessProbe}, // which is 200 without the database
	} {
		for _, p := range probes {
			if p == nil || p.HTTPGet == nil || p.HTTPGet.Path != path || p.HTTPGet.Port.StrVal != port {
				t.Errorf("%s: %+v", path, p)
			}
		}
	}
	const grace = 10 // seconds, of Limits.Grace
	sleep := c.Lifecycle.PreStop.Sleep.Seconds
	if sleep < 1 || *pod.TerminationGracePeriodSeconds < sleep+grace+5 {
		t.Errorf("%d seconds for a sleep of %d and a shutdown of %d", *pod.TerminationGracePeriodSeconds, sleep, grace)
	}
	if d.Spec.Strategy.RollingUpdate.MaxUnavailable.IntVal != 0 {
		t.Error("an update takes a replica away before there is another")
	}
	if !slices.Contains(c.SecurityContext.Capabilities.Drop, "ALL") || !*c.SecurityContext.ReadOnlyRootFilesystem || !*pod.SecurityContext.RunAsNonRoot {
		t.Error("it has rights that it does not need")
	}
}

// TestTheAutoscalerReadsAMetricThatThereIs: its name is that of the agent's instrument, and that of the rule by which Prometheus is asked.
func TestTheAutoscalerReadsAMetricThatThereIs(t *testing.T) {
	all := manifests(t)
	hpa := only[autoscalingv2.HorizontalPodAutoscaler](t, all).Spec
	metric := hpa.Metrics[0].Pods.Metric.Name
	page, err := os.ReadFile("../../docs/observe.md")
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Contains(page, []byte("`"+strings.ReplaceAll(metric, "_", ".")+"`")) {
		t.Errorf("docs/observe.md knows no metric %s", metric)
	}
	for _, one := range all {
		if c, ok := one.(*corev1.ConfigMap); ok && c.Data["config.yaml"] != "" {
			var rules struct {
				Rules []struct{ SeriesQuery, MetricsQuery string }
			}
			if err := yaml.Unmarshal([]byte(c.Data["config.yaml"]), &rules); err != nil || !strings.HasPrefix(rules.Rules[0].SeriesQuery, metric+"{") {
				t.Errorf("%v: %+v", err, rules)
			}
		}
	}
}
