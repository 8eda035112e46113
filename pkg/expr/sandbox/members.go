// Copyright The KubeCleaner Authors.
// SPDX-License-Identifier: Apache-2.0

package sandbox

import (
	"crypto/sha256"
	"time"

	"k8s.io/apimachinery/pkg/types"

	"github.com/kubecleaner/kubecleaner/pkg/object"
)

// membersPerBlock is how many members are made at once: to copy tens of thousands into ever larger places took a tenth
// of the CPU time in which they are collected.
const membersPerBlock = 512

// members are the objects that the child has, in their order.
type members struct {
	blocks [][]member // all full but the last
	count  int
	size   int64 // of the objects' bytes
}

// member is an object that the child has: an object.Object without Raw, and with a kind that it shares with others.
type member struct {
	kind                             *object.Kind
	namespace, name, resourceVersion string
	uid                              types.UID
	created                          time.Time
	deleting                         bool
	size                             int64
	sum                              [sha256.Size]byte
}

// object is the member with its bytes.
func (m *member) object(raw []byte) object.Object {
	return object.Object{
		Kind: *m.kind, Namespace: m.namespace, Name: m.name, UID: m.uid, ResourceVersion: m.resourceVersion,
		Created: m.created, Deleting: m.deleting, Raw: raw,
	}
}

// add makes an object a member. Its bytes are those that the child gets.
func (m *members) add(o object.Object, raw []byte) {
	one := member{
		namespace:       o.Namespace,
		name:            o.Name,
		resourceVersion: o.ResourceVersion,
		uid:             o.UID,
		created:         o.Created,
		deleting:        o.Deleting,
		size:            int64(len(raw)),
		sum:             sha256.Sum256(raw),
	}
	if m.count > 0 && *m.at(m.count - 1).kind == o.Kind {
		one.kind = m.at(m.count - 1).kind
	} else {
		one.kind = new(o.Kind)
	}
	if m.count%membersPerBlock == 0 {
		m.blocks = append(m.blocks, make([]member, 0, membersPerBlock))
	}
	last := &m.blocks[len(m.blocks)-1]
	*last = append(*last, one)
	m.count, m.size = m.count+1, m.size+one.size
}

func (m *members) at(i int) *member { return &m.blocks[i/membersPerBlock][i%membersPerBlock] }

// truncate forgets all but the first n.
func (m *members) truncate(n int) {
	for i := n; i < m.count; i++ {
		m.size -= m.at(i).size
	}
	whole, rest := n/membersPerBlock, n%membersPerBlock
	if rest > 0 {
		clear(m.blocks[whole][rest:])
		m.blocks[whole] = m.blocks[whole][:rest]
		whole++
	}
	clear(m.blocks[whole:])
	m.blocks, m.count = m.blocks[:whole], n
}
