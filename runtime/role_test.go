package runtime

import "testing"

func TestARoleIsFoundByEachOfItsNames(t *testing.T) {
	for i, row := range Roles {
		role := Role(i)
		if RoleNamed(row.Name) != role || RoleOf(row.RPC) != role || role.Info().Name != row.Name {
			t.Errorf("%d: %+v", i, row)
		}
	}
	if RoleNamed("pause") != RoleOther || RoleOf("PauseTask") != RoleOther || Role(200).Info().Name != "other" {
		t.Error("a role that nobody knows is not RoleOther")
	}
}
