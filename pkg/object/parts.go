// Copyright The KubeCleaner Authors.
// SPDX-License-Identifier: Apache-2.0

package object

// Parts is an object whose main parts were found once, for who asks much of it: no question passes over the whole
// object again. It is valid only as long as the object's bytes are.
type Parts struct {
	Object
	metadata, spec, status      JSON
	labels, annotations, owners JSON
}

// Parts finds the object's parts, in one pass.
func (o Object) Parts() *Parts {
	p := &Parts{}
	p.Find(o)
	return p
}

// Find finds the parts of another object, for who looks at very many.
func (o *Parts) Find(of Object) {
	*o = Parts{Object: of}
	for key, value := range JSON(of.Raw).Fields() {
		switch string(key.name()) {
		case "metadata":
			o.metadata = value
		case "spec":
			o.spec = value
		case "status":
			o.status = value
		}
	}
	for key, value := range o.metadata.Fields() {
		switch string(key.name()) {
		case "labels":
			o.labels = value
		case "annotations":
			o.annotations = value
		case "ownerReferences":
			o.owners = value
		}
	}
}

// At is the value at a path of names in the object, as JSON.At has it.
func (o *Parts) At(path ...string) JSON {
	part, rest := o.nearest(path)
	return part.At(rest...)
}

// nearest is the part that is nearest to the end of a path, and the rest of the path.
func (o *Parts) nearest(path []string) (JSON, []string) {
	if len(path) > 1 && path[0] == "metadata" {
		switch path[1] {
		case "labels":
			return o.labels, path[2:]
		case "annotations":
			return o.annotations, path[2:]
		case "ownerReferences":
			return o.owners, path[2:]
		}
	}
	if len(path) > 0 {
		switch path[0] {
		case "metadata":
			return o.metadata, path[1:]
		case "spec":
			return o.spec, path[1:]
		case "status":
			return o.status, path[1:]
		}
	}
	return o.Raw, path
}
