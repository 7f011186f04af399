# slapd.sh -- an LDAP server with a database of its own: 50 entries added, searched, an orderly end
w() { for i in $(seq 100); do "$@" && return; sleep 0.05; done; echo never; }
here="ldapi://$(printf %s "$PWD/socket" | sed 's|/|%2F|g')"
mkdir db
printf 'include /etc/ldap/schema/core.schema\nmodulepath /usr/lib/ldap\nmoduleload back_mdb\npidfile %s/pid\ndatabase mdb\nsuffix "o=x"\nrootdn "cn=r,o=x"\nrootpw s\ndirectory %s/db\n' "$PWD" "$PWD" >settings
printf 'dn: o=x\nobjectClass: organization\no: x\n\n' >entries
for i in $(seq 50); do printf 'dn: ou=%d,o=x\nobjectClass: organizationalUnit\nou: %d\n\n' $i $i; done >>entries
slapd -d 0 -h "$here" -f settings &
w test -f pid
ldapadd -x -H "$here" -D cn=r,o=x -w s -f entries | grep -c adding
ldapsearch -x -LLL -H "$here" -b o=x | md5sum
kill $!
wait $!
echo status $?
rm -rf db settings entries pid socket
